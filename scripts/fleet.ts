import { openDatabase } from '../db/client.ts'
import { addPlaces, drainPlace, listPlaces, resumePlace, retirePlace } from '../src/server/fleet/places.ts'
import { failureOf, readArguments } from './arguments.ts'

const USAGE = `Usage, with LIBSQL_URL (and LIBSQL_AUTH_TOKEN) set:
  npm run fleet -- add --type <instance type> --zone <availability zone> --gpus <n>
    [--template <launch template>] [--count <n>]
  npm run fleet -- drain|resume|retire <place id>
  npm run fleet -- list
  All except list take --reason "<why>" for the audit log.`

try {
  console.log(await run())
} catch (error) {
  console.error(failureOf(error))
  process.exitCode = 1
}

async function run(): Promise<string> {
  const { command, id, values } = readCommand()
  const url = process.env.LIBSQL_URL
  if (!url) throw new Error(USAGE)
  const hand = {
    db: openDatabase(url, process.env.LIBSQL_AUTH_TOKEN),
    now: Date.now,
    by: { id: 'script', reason: values.reason ?? '' },
  }
  if (command === 'add') {
    const added = await addPlaces(hand, {
      instanceType: values.type ?? '',
      availabilityZone: values.zone ?? '',
      launchTemplate: values.template ?? null,
      gpus: Number(values.gpus),
      count: Number(values.count ?? 1),
    })
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
  return table(await listPlaces(hand))
}

function readCommand() {
  const text = { type: 'string' } as const
  const { positionals, values } = readArguments(USAGE, {
    allowPositionals: true,
    options: { type: text, zone: text, gpus: text, template: text, count: text, reason: text },
  })
  const [command = '', id = ''] = positionals
  const wants = { add: 1, drain: 2, resume: 2, retire: 2, list: 1 }[command]
  const stray = Object.keys(values).some((name) => command !== 'add' && (name !== 'reason' || command === 'list'))
  if (positionals.length !== wants || stray) throw new Error(USAGE)
  return { command, id, values }
}

/** Pads each column to its widest cell. */
function table(places: Awaited<ReturnType<typeof listPlaces>>): string {
  const rows = [
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
