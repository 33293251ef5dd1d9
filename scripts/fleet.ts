import { addPlaces, checkPlace, drainPlace, listPlaces, resumePlace, retirePlace } from '../src/server/fleet/places.ts'
import { ENV, NEEDS_DATABASE, openSettings, readArguments, runCommand } from './arguments.ts'
import { settingsOf } from './environment.ts'
import { ENVIRONMENT_COMMANDS, environmentRows } from './fleet-environments.ts'
import { warmRows } from './fleet-warm.ts'
import { gpusIn } from './instance-type.ts'

const USAGE = `Usage, ${NEEDS_DATABASE}:
  npm run fleet -- add --type <instance type> --zone <availability zone>
    [--gpus <n>] [--template <launch template>] [--count <n>]
  npm run fleet -- drain|resume|retire <place id>
  npm run fleet -- list
  npm run fleet -- warm
  npm run fleet -- warm --type <instance type> --zone <availability zone> --hours "<mon-fri 8-18, sat 9-12, or always>"
    --count <n> [--in <time zone>] [--price <dollars an hour for one>]
  npm run fleet -- environments
  npm run fleet -- add-environment <name> --description "<one sentence>" [--image <reference, or :tag>]
    [--from demo|basic|premium|enterprise] [--position <n>]
  npm run fleet -- change-environment <name>   with any of these; --image machine: the machine's own again
  npm run fleet -- retire-environment <name>
  All except list, warm alone, and environments take --reason "<why>" for the audit log.`

const ENVIRONMENT = ['description', 'image', 'from', 'position', 'reason']
/** How many words each command takes, itself included, and which options. */
const COMMANDS: Record<string, { words: number; options: string[] }> = {
  add: { words: 1, options: ['type', 'zone', 'gpus', 'template', 'count', 'reason'] },
  drain: { words: 2, options: ['reason'] },
  resume: { words: 2, options: ['reason'] },
  retire: { words: 2, options: ['reason'] },
  list: { words: 1, options: [] },
  warm: { words: 1, options: ['type', 'zone', 'hours', 'count', 'in', 'price', 'reason'] },
  environments: { words: 1, options: [] },
  'add-environment': { words: 2, options: ENVIRONMENT },
  'change-environment': { words: 2, options: ENVIRONMENT },
  'retire-environment': { words: 2, options: ['reason'] },
}

await runCommand(run)

async function run(): Promise<string> {
  const { command, id, values } = readCommand()
  const settings = settingsOf(values.env)
  const hand = { ...openSettings(USAGE, settings), by: { id: 'script', reason: values.reason ?? '' } }
  if (command === 'add') {
    const { type = '', zone = '', template = null } = values
    const place = { instanceType: type, availabilityZone: zone, launchTemplate: template }
    checkPlace(place)
    const gpus = await gpusIn(settings, type, zone)
    if (values.gpus !== undefined && Number(values.gpus) !== gpus)
      throw new Error(`${type} has ${gpus} GPUs, not ${values.gpus}. Leave --gpus out.`)
    const added = await addPlaces(hand, { ...place, gpus, count: Number(values.count ?? 1) })
    return `Added ${added.join(', ')}.`
  }
  if (command === 'retire') {
    const { retiredAt, reservedBy } = await retirePlace(hand, id)
    const since = new Date(retiredAt ?? 0).toISOString()
    return `${id} is retired since ${since}.${reservedBy ? ' Its server keeps running until it is stopped.' : ''}`
  }
  if (command === 'drain' || command === 'resume') {
    const { reservedBy } = await (command === 'drain' ? drainPlace : resumePlace)(hand, id)
    if (command === 'resume') return `We offer ${id} again.`
    return `${id} is drained.${reservedBy ? ' Its server keeps running until it is stopped.' : ''}`
  }
  if (command === 'warm') return table(await warmRows(hand, values))
  if (command in ENVIRONMENT_COMMANDS)
    return ENVIRONMENT_COMMANDS[command as keyof typeof ENVIRONMENT_COMMANDS](hand, id, values)
  return table(command === 'environments' ? await environmentRows(hand) : placeRows(await listPlaces(hand)))
}

function readCommand() {
  const text = { type: 'string' } as const
  const { positionals, values } = readArguments(USAGE, {
    allowPositionals: true,
    options: {
      ...ENV,
      ...{ type: text, zone: text, gpus: text, template: text, count: text },
      ...{ hours: text, in: text, price: text },
      ...{ description: text, image: text, from: text, position: text, reason: text },
    },
  })
  const [command = '', id = ''] = positionals
  const takes = COMMANDS[command]
  const stray = Object.keys(values).some((name) => name !== 'env' && !takes?.options.includes(name))
  if (positionals.length !== takes?.words || stray) throw new Error(USAGE)
  return { command, id, values }
}

function placeRows(places: Awaited<ReturnType<typeof listPlaces>>): string[][] {
  return [
    ['ID', 'TYPE', 'ZONE', 'GPUS', 'TEMPLATE', 'STATE', 'SINCE'],
    ...places.map(({ id, type, zone, gpus, template, state, since }) => [
      id,
      type,
      zone,
      String(gpus),
      template ?? '(default)',
      state,
      since ?? '',
    ]),
  ]
}

/** Pads each column to its widest cell. */
function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
