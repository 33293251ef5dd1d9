import { costText } from '../src/domain/warm-hours.ts'
import { listWarm, setWarm } from '../src/server/fleet/warm/settings.ts'
import type { Hand } from '../src/server/runtime/audit.ts'

type Values = Partial<Record<'type' | 'zone' | 'hours' | 'count' | 'in' | 'price', string>>

/** Sets what the operator named, if anything. @returns rows to print, the header first */
export async function warmRows(hand: Hand, { type, zone, hours, count, in: timeZone, price }: Values) {
  if (type ?? zone ?? hours ?? count ?? timeZone ?? price)
    await setWarm(hand, {
      instanceType: type ?? '',
      availabilityZone: zone ?? '',
      hours: hours ?? '',
      count: Number(count ?? Number.NaN),
      timeZone: timeZone ?? null,
      hourDollars: price === undefined ? null : Number(price),
    })
  return [
    ['TYPE', 'ZONE', 'READY', 'WANTED', 'KEPT WARM', 'A WEEK, AT MOST', 'STARTS SUGGEST', 'TIME ZONE'],
    ...(await listWarm(hand)).map((line) => [
      line.type,
      line.zone,
      String(line.ready),
      String(line.wanted),
      line.hours || 'never',
      line.week ? costText(line.week) : '-',
      line.suggested || '-',
      line.time_zone,
    ]),
  ]
}
