import type { RunRow } from '../../../db/schema/fleet.ts'
import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { toServer } from '../../../src/server/fleet/wire.ts'
import type { Agent } from '../programs/agent.ts'
import type { World } from '../world.ts'
import { isOverdue, iso, type Rule, type View } from './rule.ts'

/** Each run until exit whose machine's program ever started, and what we know of it that the product doesn't. */
function programsOf({ world, rows }: View): { run: RunRow; agent: Agent; startedAt: number }[] {
  return rows.runs.flatMap((run) => {
    const agent = run.untilExit ? world.programs.of(run) : undefined
    return agent?.startedAt == null ? [] : [{ run, agent, startedAt: agent.startedAt }]
  })
}

/**
 * What a run until exit costs, by what really happened: from its container's start, once we saw its machine run, to what
 * ended it, but no further than its machine could tell us. Null where only EC2 knows, or where the machine lies.
 */
export function spanOf(world: World, run: RunRow, isLost: boolean): { start: number; end: number } | null {
  const agent = world.programs.of(run)
  const { runningAt, stopRequestedAt, mustStopAt, endsAt } = run
  if (agent?.startedAt == null || runningAt === null || stopRequestedAt === null) return null
  if (isLost || agent.plan.liesByMs !== 0 || run.shortSeconds > 0) return null
  const start = Math.max(agent.startedAt, runningAt)
  const isKnown = agent.saidExit !== null || run.exitedAt !== null
  const exitedAt = (isKnown && agent.exit?.at) || Infinity
  const isSilent = run.errorCode === 'silent'
  const lastWord = agent.heard.findLast((at) => !isSilent || at <= stopRequestedAt) ?? start
  const stoppedAt = Math.min(stopRequestedAt, mustStopAt ?? Infinity, endsAt ?? Infinity)
  return { start, end: Math.max(start, Math.min(exitedAt, stoppedAt, lastWord)) }
}

export const PROGRAMS_RULES: Rule[] = [
  {
    name: 'nobody-pays-beyond-a-program',
    sentence: 'Nobody pays for a second before their program started or after it ended.',
    broken: (view) =>
      programsOf(view).flatMap(({ run, agent, startedAt }) => {
        const { id, billedFrom, meteredUntil, endedAt } = run
        // A machine's lie is bounded by what EC2 and we saw of it.
        if (billedFrom === null || agent.plan.liesByMs !== 0) return []
        const end = Math.max(billedFrom, agent.endsAt)
        return [
          ...(billedFrom < startedAt ? [`${id} is billed from ${iso(billedFrom)}, it began ${iso(startedAt)}`] : []),
          ...(endedAt !== null && (meteredUntil ?? 0) > end
            ? [`${id} is billed until ${iso(meteredUntil)}, it ended ${iso(end)}`]
            : []),
        ]
      }),
  },
  {
    name: 'programs-are-billed-exactly',
    sentence:
      'A run until exit is billed for exactly what ran, as far as its machine told us: from its start to its exit, to its stop, or to the last word of a machine that fell silent.',
    broken: (view) =>
      programsOf(view).flatMap(({ run }) => {
        const { id, billedFrom, meteredUntil, endedAt } = run
        const span = spanOf(view.world, run, view.memory.blamed.has(id))
        if (endedAt === null || billedFrom === null || span === null) return []
        return billedFrom === span.start && meteredUntil === span.end
          ? []
          : [
              `${id} is billed ${iso(billedFrom)} to ${iso(meteredUntil)}, it ran ${iso(span.start)} to ${iso(span.end)}`,
            ]
      }),
  },
  {
    name: 'exit-codes-are-the-programs',
    sentence: "The exit code that we show is the program's own, once we know that it ended, and never before it did.",
    broken: (view) =>
      programsOf(view).flatMap(({ run, agent }) => {
        const { exit_code: shown, ended_because } = toServer(run)
        const { exit, saidExit } = agent
        const isWrong = shown !== null && shown !== exit?.code
        const isMissing = ended_because === 'exited' && shown === null
        // Nothing is in the way between a word that we took and what it changes.
        const isLost = saidExit !== null && run.exitCode === null
        return isWrong || isMissing || isLost ? [`${run.id} shows ${shown}, its program ended with ${exit?.code}`] : []
      }),
  },
  {
    name: 'no-run-outlives-its-program',
    sentence:
      'A run whose program ended is stopped within 2 quiet minutes of its word, and one whose machine fell silent within 7.',
    broken: (view) =>
      programsOf(view).flatMap(({ run, agent }) => {
        if (run.stopRequestedAt !== null || run.endedAt !== null || run.billedFrom === null) return []
        const { saidExit, heard } = agent
        const since = saidExit ?? agent.lastQuietWord(view.now) ?? heard.at(-1) ?? 0
        const isOver = isOverdue(view.world, 'fleet', since, (saidExit === null ? 7 : 2) * MINUTE_MS, 1)
        return isOver ? [`${run.id} runs on, its machine last spoke ${iso(since)}, of its exit ${iso(saidExit)}`] : []
      }),
  },
]
