import { Argument, Command, CommanderError, Option } from 'commander'
import type { TokenScope } from '../../src/domain/api-token.ts'
import type { RunParameters } from '../../src/domain/parameters.ts'
import type { Vehicle } from '../../src/domain/wire/fields.ts'
import { version } from '../package.json'
import { completion, SHELLS } from './completion.ts'
import { end, extend, whenText } from './end.ts'
import { EXIT, Failure } from './failure.ts'
import { ls, rm } from './files/commands.ts'
import { get, put, sync } from './files/copy.ts'
import { config, credentials, FORMATS } from './files/credentials.ts'
import { forward, type PortPair, portPairs } from './forward.ts'
import { idle, idleTime } from './idle.ts'
import { line } from './line.ts'
import { bills, environments, runs, usage } from './lists.ts'
import { logs } from './logs.ts'
import { run } from './run.ts'
import { login, logout, token } from './sign-in.ts'
import type { SiteOptions } from './site.ts'
import { count, duration, parameter, secret, start } from './start.ts'
import { open, status, stop } from './status.ts'
import { note, paint } from './terminal.ts'

const program = new Command('proving-ground')
  .description('Start, follow, and stop your Proving Ground servers.')
  .version(version)
  .option(
    '--base-url <url>',
    'the site (default: PROVING_GROUND_URL, the one you signed in to, or the one this came from, which login prefers)',
  )
  .addHelpText(
    'after',
    `
Environment:
  PROVING_GROUND_URL    the site, unless --base-url names it
  PROVING_GROUND_TOKEN  an API token to use instead of signing in
  NO_COLOR              no colors

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not signed in, 4 no capacity, 5 timeout,
6 port in use, 7 port needs an administrator, 8 port not open on the server, 9 no private address,
10 no rclone, or one too old, 124 run: its end came, 125 run: no program ran, 130 Ctrl-C,
143 run: the server was stopped`,
  )
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()

type Everything = SiteOptions & {
  scope: TokenScope
  browser: boolean
  environment: string
  vehicle: Vehicle
  stopAfter: number
  maxGpus: number
  set: RunParameters
  secret: string[]
  name: string
  format: (typeof FORMATS)[number]
} & Record<
    'delete' | 'follow' | 'read' | 'withToken' | 'revoke' | 'wait' | 'waitInLine' | 'watch' | 'all' | 'csv' | 'json',
    true
  >
const VEHICLES = ['uav', 'ugv', 'multi'] as const
const SET = ['--set <NAME=value>', 'set an environment variable in the container (repeatable)', parameter] as const
const SECRET = ['--secret <NAME>', 'give your own image one of your secrets (repeatable)', secret] as const
const JSON_OUTPUT = ['--json', 'write JSON for scripts'] as const

function command(name: string, description: string, run: (options: Everything) => Promise<void> | void): Command {
  return program
    .command(name)
    .description(description)
    .action((_options, self: Command) => run(self.optsWithGlobals<Everything>()))
}

command('login', 'sign in through your browser', login)
  .addOption(new Option('--scope <scope>', 'what it may do').choices(['read', 'operate']).default('operate'))
  .option('--no-browser', "don't open the browser")
  .option('--with-token', 'read an API token from the terminal or stdin instead')
const VEHICLE = new Option('--vehicle <vehicle>', 'which vehicle (default: your last choice)').choices(VEHICLES)
const NAME = ['--name <name>', 'a name for it'] as const
const STOP_AFTER = ['--stop-after <time>', 'stop it after a time like 2h or 45m, from now', duration] as const
const MAX_GPUS = ['--max-gpus <count>', "use at most this many GPUs (default: your plan's largest)", count] as const
command('start', 'start a server', start)
  .option('--wait', 'wait until it runs')
  .option('--wait-in-line', 'if none is free, wait in line for one')
  .option('--code <code>', 'the code of your class or competition, to use a server held for it')
  .option('--environment <name>', 'which environment (default: your last choice)')
  .addOption(VEHICLE)
  .option(...STOP_AFTER)
  .option(...MAX_GPUS)
  .option(...SET)
  .option(...SECRET)
  .option(...NAME)
  .option(...JSON_OUTPUT)
program
  .command('run')
  .description('run a program on its own server, and exit with its exit code')
  .argument('[command...]', "after --: the command to run instead of the image's own")
  .requiredOption('--environment <name>', 'one of your images')
  .addOption(VEHICLE)
  .option(...SET)
  .option(...SECRET)
  .option('--keep <path>', 'copy /data/<path> to ./<path> at the end')
  .option(...STOP_AFTER)
  .option('--wait <time>', 'how long to wait while another of your servers is running (default: 2h)', duration)
  .option(...MAX_GPUS)
  .option(...NAME)
  .option('--json', 'write the result as JSON to stdout, and the log to stderr')
  // Its program may exit with any code but 125.
  .exitOverride((error) => {
    throw error.exitCode ? new Failure(EXIT.notRun, '') : error
  })
  .action((words: string[], _options, self: Command) => run(words, self.optsWithGlobals()))
program
  .command('line')
  .description('show your place in line for a server, or leave it')
  .addArgument(new Argument('[action]').choices(['leave']))
  .option(...JSON_OUTPUT)
  .action((action: 'leave' | undefined, _options, self: Command) => line(action, self.optsWithGlobals<Everything>()))
command('status', 'show your running server', status)
  .option('--watch', 'keep following it until Ctrl-C')
  .option(...JSON_OUTPUT)
program
  .command('logs')
  .description('print the log of your server and its machine')
  .argument('[server]', 'its ID or name (default: the running one, or your last one)')
  .option('-f, --follow', 'keep printing until it ends')
  .option('--json', 'write a line of JSON for each line')
  .action((server: string | undefined, _options, self: Command) => logs(server, self.optsWithGlobals<Everything>()))
command('open', 'print the address of your server, and open it in the browser', open)
command('stop', 'stop the server', stop)
  .option('--all', 'stop all servers, and succeed if none is running')
  .option(...JSON_OUTPUT)
program
  .command('extend')
  .description('keep the server for longer')
  .addArgument(new Argument('<time>', 'like 1h or 30m, added to its current end').argParser(duration))
  .option(...JSON_OUTPUT)
  .action((time: number, _options, self: Command) => extend(time, self.optsWithGlobals<Everything>()))
program
  .command('end')
  .description('set when the server stops')
  .argument('<when>', 'a time like 18:00 or 2026-11-24T18:00, your time, or never', whenText)
  .option(...JSON_OUTPUT)
  .action((when: string, _options, self: Command) => end(when, self.optsWithGlobals<Everything>()))
program
  .command('idle')
  .description('stop idle servers, or see the setting')
  .argument('[time]', 'like 30m, from 15m to 4h, or never', idleTime)
  .option(...JSON_OUTPUT)
  .action((time: number | null | undefined, _options, self: Command) => idle(time, self.optsWithGlobals<Everything>()))
program
  .command('forward')
  .description('reach ports of your server from this computer')
  .addArgument(
    new Argument('<ports...>', 'like 41451, or 5760:15760 for another port of this computer').argParser(portPairs),
  )
  .option('--server <id>', 'the ID or name of the server, if you run several')
  .action((ports: PortPair[], _options, self: Command) => forward(ports, self.optsWithGlobals()))
command('runs', 'list your latest runs', runs).option(...JSON_OUTPUT)
command('environments', 'list the environments and vehicles you can start', environments).option(...JSON_OUTPUT)
command('usage', "show this month's usage and your plan", usage).option(...JSON_OUTPUT)
command('bills', 'list your bills', bills)
  .option('--csv', 'write CSV')
  .option(...JSON_OUTPUT)
const filesCommand = program.command('files').description('list, send, and fetch your files')
/** Each reads the files' paths, then the options. */
function onFiles(name: string, description: string, run: (words: string[], options: Everything) => Promise<void>) {
  return filesCommand
    .command(name)
    .description(description)
    .action((...given: unknown[]) => {
      const self = given.at(-1) as Command
      return run(self.processedArgs, self.optsWithGlobals<Everything>())
    })
}
const THERE = ['<path>', 'the file or folder on the site'] as const
onFiles('ls', 'list a folder', ([path = ''], options) => ls(path, options))
  .argument('[path]', 'a folder (default: all your files)')
  .option(...JSON_OUTPUT)
onFiles('put', 'upload a file or folder', ([local = '', path], options) => put(local, path, options))
  .argument('<local>', 'the file or folder here')
  .argument('[path]', 'where to put it (default: the same name)')
  .option(...JSON_OUTPUT)
onFiles('get', 'download a file or folder', ([path = '', local], options) => get(path, local, options))
  .argument(...THERE)
  .argument('[local]', 'where to put it (default: here, under the same name)')
  .option(...JSON_OUTPUT)
onFiles('rm', 'delete a file, or a folder with everything in it', ([path = ''], options) => rm(path, options))
  .argument(...THERE)
  .option(...JSON_OUTPUT)
onFiles('sync', 'copy new and changed files', ([from = '', to = ''], options) => sync(from, to, options))
  .argument('<from>', 'a folder here, or files:folder on the site')
  .argument('<to>', 'the other side')
  .option('--delete', "also delete from <to> whatever isn't in <from>")
  .option(...JSON_OUTPUT)
onFiles('config', 'print your files’ settings for rclone and the AWS command line', (_, options) => config(options))
onFiles('credentials', 'print S3 credentials for your files, for an hour', (_, options) => credentials(options))
  .option('--read', 'read-only')
  .addOption(new Option('--format <format>', 'the format').choices(FORMATS).default('env'))
command('token', 'show the API token in use', token)
  .option('--revoke', 'revoke it everywhere')
  .option(...JSON_OUTPUT)
command('logout', 'sign out on this computer', logout)
program
  .command('completion')
  .description('print a script that completes commands in your shell')
  .addArgument(new Argument('<shell>').choices(SHELLS))
  .action((shell) => completion(program, shell))

// `proving-ground runs | head` closes our output early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : EXIT.refused))

try {
  await program.parseAsync()
} catch (error) {
  // A folder of this computer that we may not read, or a full disk: the message names the path.
  const isLocal = error instanceof Error && 'syscall' in error
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode && EXIT.usage
  } else if (error instanceof Failure || isLocal) {
    const exitCode = isLocal ? EXIT.refused : error.exitCode
    const label = exitCode === EXIT.interrupted ? '' : `${paint('error:', 'red', process.stderr)} `
    if (error.message) note(label + error.message)
    process.exitCode = exitCode
  } else throw error
}
