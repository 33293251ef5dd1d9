import type { Command } from 'commander'
import { say } from './terminal.ts'

const everywhere = ['--base-url', '--help']
const valuesOf = (command: Command) => [
  ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  ...command.commands.map((inner) => inner.name()),
]

/** zsh runs bash's completions, once its own are loaded. */
const ZSH =
  '(( $+functions[compdef] )) || { autoload -U compinit && compinit }\nautoload -U bashcompinit && bashcompinit\n'
const SCRIPTS = { bash: bashScript, zsh: (program: Command) => ZSH + bashScript(program), fish: fishScript }
export const SHELLS = ['bash', 'zsh', 'fish'] as const satisfies (keyof typeof SCRIPTS)[]

/** Prints a script that completes commands and options, generated from the program itself. */
export function completion(program: Command, shell: keyof typeof SCRIPTS): void {
  say(SCRIPTS[shell](program))
}

function bashScript({ commands }: Command): string {
  const cases = commands.map((command) => {
    const words = [...valuesOf(command), ...command.options.map(({ long }) => long), ...everywhere]
    return `      ${command.name()}) words="${words.join(' ')}"; break ;;`
  })
  const names = commands.map((command) => command.name())
  return `_proving_ground() {
  local words="${[...names, ...everywhere].join(' ')}" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$word" in
${cases.join('\n')}
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _proving_ground proving-ground`
}

function fishScript(program: Command): string {
  const quote = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`
  const options = (command: Command) =>
    command.options.map(({ long, required, argChoices, description }) => {
      const value = required ? `-x${argChoices ? ` -a ${quote(argChoices.join(' '))}` : ''} ` : ''
      return `-l ${long?.slice(2)} ${value}-d ${quote(description)}`
    })
  const lines = program.commands.flatMap((command) => [
    `-n __fish_use_subcommand -a ${command.name()} -d ${quote(command.description())}`,
    ...[...valuesOf(command).map((value) => `-a ${value}`), ...options(command)].map(
      (line) => `-n '__fish_seen_subcommand_from ${command.name()}' ${line}`,
    ),
  ])
  return ['-f', '-l help', ...options(program), ...lines].map((line) => `complete -c proving-ground ${line}`).join('\n')
}
