#!/bin/sh
# Installs breaker-inspect, its manual page and its completions, or takes them away.
# usage: scripts/install.sh PROGRAM FOLDER | scripts/install.sh --remove FOLDER
set -eu

name=breaker-inspect
program=$1
folder=$2

# What is put below the folder, and what the program is asked for to write it.
files="\
share/man/man1/$name.1 help --man
share/bash-completion/completions/$name completions bash
share/zsh/site-functions/_$name completions zsh
share/fish/vendor_completions.d/$name.fish completions fish"

if [ "$program" = --remove ]; then
    # The folders are those of the system.
    printf '%s\n' "bin/$name" "$files" | while read -r file _; do rm -f "$folder/$file"; done
    exit
fi

made=$(mktemp)
trap 'rm -f "$made"' EXIT

put() {
    mkdir -p "$(dirname "$folder/$3")"
    install -m "$1" "$2" "$folder/$3"
}

put 0755 "$program" "bin/$name"
printf '%s\n' "$files" | while read -r file words; do
    # shellcheck disable=SC2086 # a verb and what follows it
    "$program" $words >"$made"
    put 0644 "$made" "$file"
done
