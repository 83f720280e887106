#!/bin/sh
# Installs programs, their manual pages and their completions, or takes all of them away.
# usage: scripts/install.sh PROGRAM… FOLDER | scripts/install.sh --remove FOLDER
set -eu

for folder; do :; done

# What is put below the folder for a program, and what the program is asked for to write it.
files() {
    echo "share/man/man1/$1.1 help --man"
    echo "share/bash-completion/completions/$1 completions bash"
    echo "share/zsh/site-functions/_$1 completions zsh"
    echo "share/fish/vendor_completions.d/$1.fish completions fish"
}

if [ "$1" = --remove ]; then
    # The folders are those of the system.
    for name in breaker-inspect breaker-fleet; do
        { echo "bin/$name" && files "$name"; } | while read -r file _; do rm -f "$folder/$file"; done
    done
    exit
fi

made=$(mktemp)
trap 'rm -f "$made"' EXIT

put() {
    mkdir -p "$(dirname "$folder/$3")"
    install -m "$1" "$2" "$folder/$3"
}

while [ $# -gt 1 ]; do
    program=$1
    name=$(basename "$program")
    put 0755 "$program" "bin/$name"
    files "$name" | while read -r file words; do
        # shellcheck disable=SC2086 # a verb and what follows it
        "$program" $words >"$made"
        put 0644 "$made" "$file"
    done
    shift
done
