import type { Command } from 'commander'
import { say } from './terminal.ts'

export const SHELLS = ['bash', 'zsh'] as const

/** Prints a script that completes commands and options, made from the program itself. */
export function completion(program: Command, shell: (typeof SHELLS)[number]): void {
  const options = (command: Command) => command.options.map(({ long }) => long)
  const everywhere = ['--base-url', '--help']
  const cases = program.commands.map((command) => {
    const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    return `      ${command.name()}) words="${[...values, ...options(command), ...everywhere].join(' ')}"; break ;;`
  })
  const names = program.commands.map((command) => command.name())
  say(`${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_proving_ground() {
  local words="${[...names, ...everywhere].join(' ')}" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
${cases.join('\n')}
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _proving_ground proving-ground`)
}
