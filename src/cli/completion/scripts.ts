/**
 * What a shell loads to complete quorate. Each script asks the program itself, which answers with one candidate in a line
 * (a tab, then what it is for) and at last `:` with 4 where files are not wanted, 0 where they are. That is how kubectl
 * asks its plugins too.
 */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

const bash = `# quorate completion for bash. Load it with:  source <(quorate completion bash)
_quorate() {
  local line cur answer directive words
  cur="\${COMP_WORDS[COMP_CWORD]}"
  # Bash breaks words at = and :, where the program does not.
  line="\${COMP_LINE:0:COMP_POINT}"
  read -r -a words <<< "$line"
  [[ "$line" == *" " ]] && words+=("")
  answer="$("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)" || return
  directive="\${answer##*:}"
  answer="\${answer%:*}"
  COMPREPLY=()
  local typed="\${words[\${#words[@]}-1]}" candidate
  while IFS=$'\\t' read -r candidate _; do
    [[ -n "$candidate" && "$candidate" == "$typed"* ]] || continue
    # Only what follows the last break is put in place of the word.
    COMPREPLY+=("\${candidate#"\${typed%"$cur"}"}")
  done <<< "$answer"
  if [[ \${#COMPREPLY[@]} -eq 0 && "$directive" == 0 ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
    compopt -o filenames 2>/dev/null
  fi
  [[ \${#COMPREPLY[@]} -eq 1 && ( "\${COMPREPLY[0]}" == */ || "\${COMPREPLY[0]}" == *= ) ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _quorate quorate
`;

const zsh = `#compdef quorate
# quorate completion for zsh. Load it with:  source <(quorate completion zsh)
_quorate() {
  local answer directive line
  local -a candidates
  answer="$(\${words[1]} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)" || return
  directive="\${answer##*:}"
  for line in "\${(@f)\${answer%:*}}"; do
    [[ -n "$line" ]] || continue
    line="\${line//:/\\\\:}"
    candidates+=("\${line/$'\\t'/:}")
  done
  if (( \${#candidates} )); then
    _describe 'quorate' candidates
  elif [[ "$directive" == 0 ]]; then
    _files
  fi
}
compdef _quorate quorate
`;

const fish = `# quorate completion for fish. Load it with:  quorate completion fish | source
function __quorate_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l answer ($words[1] __complete -- $words[2..-1] $last 2>/dev/null)
    test (count $answer) -gt 0; or return
    if test (count $answer) -eq 1; and test "$answer[-1]" = ":0"
        __fish_complete_path $last
        return
    end
    string match -v -r '^:\\d$' -- $answer
end
complete -c quorate -f -a '(__quorate_complete)'
`;

const powershell = `# quorate completion for PowerShell. Load it with:  quorate completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName quorate -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '' }
    $answer = & quorate __complete '--' @words 2>$null
    foreach ($line in $answer) {
        if ($line -match '^:\\d$' -or $line -eq '') { continue }
        $name, $help = $line -split "\\t", 2
        if (-not $name.StartsWith($wordToComplete)) { continue }
        if (-not $help) { $help = $name }
        [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $help)
    }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell };
