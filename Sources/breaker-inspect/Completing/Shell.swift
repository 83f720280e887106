/// A shell that completes the command line of the tool.
enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// What the shell reads in to complete the tool's command line.
    ///
    /// The scripts know neither verbs nor options: at each Tab they ask the tool, by its verb `complete`, which reads
    /// the tables of the help. They evaluate nothing of the answer.
    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    /// bash replaces a part of the word alone, and quotes nothing but file names: the tool is told the whole line and
    /// that part, and answers with what to put there, quoted.
    private static let bashScript = """
        # bash completion for \(Tool.name)

        _breaker_inspect() {
            COMPREPLY=()
            local kind= word
            {
                IFS= read -r kind
                while IFS= read -r word; do COMPREPLY+=("$word"); done
            } < <(command \(Tool.name) complete bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
            if [[ $kind == files ]]; then compopt -o default 2>/dev/null; fi
        }

        complete -F _breaker_inspect \(Tool.name)

        """

    /// zsh and fish quote what they put on the line themselves.
    private static let zshScript = """
        #compdef \(Tool.name)

        _breaker-inspect() {
            local line
            local -a answer candidates shown
            answer=("${(@f)$(command \(Tool.name) complete zsh -- \\
                "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            case $answer[1] in
            files)
                compset -P 1 '--*='
                _files
                ;;
            words)
                for line in "${(@)answer[2,-1]}"; do
                    candidates+=("${line%%$'\\t'*}")
                    shown+=("${line/$'\\t'/  -- }")
                done
                if [[ $shown[1] == $candidates[1] ]]; then
                    compadd -a -- candidates
                else
                    compadd -l -d shown -a -- candidates
                fi
                ;;
            esac
        }

        # The file of a function that zsh loads, or one that somebody sources.
        if [[ $funcstack[1] == _breaker-inspect ]]; then
            _breaker-inspect "$@"
        elif (( $+functions[compdef] )); then
            compdef _breaker-inspect \(Tool.name)
        fi

        """

    private static let fishScript = """
        # fish completion for \(Tool.name)

        function __breaker_inspect_complete
            set -l words (commandline -opc)
            set -e words[1]
            set -l token (commandline -ot)
            set -l answer (command \(Tool.name) complete fish -- $words "$token" 2>/dev/null)
            switch "$answer[1]"
                case files
                    set -l option (string match -r -- '^--[^=]*=' "$token")
                    for path in (__fish_complete_path (string replace -- "$option" '' "$token"))
                        printf '%s\\n' "$option$path"
                    end
                case words
                    set -e answer[1]
                    printf '%s\\n' $answer
            end
        end

        complete -c \(Tool.name) -f -a '(__breaker_inspect_complete)'

        """
}
