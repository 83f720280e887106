/// A shell that completes the command line of a program.
package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// The shell that the operand of `completions` names.
    package init(_ arguments: Arguments) throws(Failure) {
        let shells = Self.allCases.map(\.rawValue)
        guard let word = arguments.operands.first, arguments.operands.count == 1, let shell = Shell(rawValue: word)
        else {
            let nearest = arguments.operands.first.flatMap { Spelling.nearest(to: $0, among: shells) }
            throw .usage(
                "'completions' takes one of \(shells.joined(separator: ", "))",
                hint: nearest.map { "did you mean '\($0)'?" }, verb: "completions")
        }
        self = shell
    }

    /// The script by which the shell completes the command line of the program `name`.
    ///
    /// The scripts know neither verbs nor options: at each Tab they run the program's verb `complete`, which reads the
    /// tables of the help. They evaluate nothing of the answer.
    package func script(for name: String) -> String {
        // Part of the names of the functions in bash and fish.
        let function = name.replacing("-", with: "_")
        switch self {
        case .bash: return Self.bashScript(name, function)
        case .zsh: return Self.zshScript(name)
        case .fish: return Self.fishScript(name, function)
        }
    }

    /// A script that passes the whole line and the part that bash replaces, and gets the quoted replacement.
    ///
    /// bash replaces only that part of the word, and quotes only file names.
    private static func bashScript(_ name: String, _ function: String) -> String {
        """
        # bash completion for \(name)

        _\(function)() {
            COMPREPLY=()
            local kind= word
            {
                IFS= read -r kind
                while IFS= read -r word; do COMPREPLY+=("$word"); done
            } < <(command \(name) complete bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
            if [[ $kind == files ]]; then compopt -o default 2>/dev/null; fi
        }

        complete -F _\(function) \(name)

        """
    }

    /// A script that passes words without quotes: zsh and fish quote what they insert.
    private static func zshScript(_ name: String) -> String {
        """
        #compdef \(name)

        _\(name)() {
            local line
            local -a answer candidates shown
            answer=("${(@f)$(command \(name) complete zsh -- \\
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
        if [[ $funcstack[1] == _\(name) ]]; then
            _\(name) "$@"
        elif (( $+functions[compdef] )); then
            compdef _\(name) \(name)
        fi

        """
    }

    private static func fishScript(_ name: String, _ function: String) -> String {
        """
        # fish completion for \(name)

        function __\(function)_complete
            set -l words (commandline -opc)
            set -e words[1]
            set -l token (commandline -ot)
            set -l answer (command \(name) complete fish -- $words "$token" 2>/dev/null)
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

        complete -c \(name) -f -a '(__\(function)_complete)'

        """
    }
}
