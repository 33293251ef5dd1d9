import type { Flight } from './flight.ts'
import { STEPS_PER_SECOND } from './vehicle.ts'

const perSecond = 20
const columns = [
  'time_s',
  'x_m',
  'y_m',
  'z_m',
  'vx_mps',
  'vy_mps',
  'vz_mps',
  'heading_deg',
  'pitch_deg',
  'roll_deg',
  'stick_forward',
  'stick_side',
  'stick_turn',
  'stick_climb',
  'next_gate',
  'lap',
  'lap_time_s',
  'bumps',
]

const degrees = (angle: number) => ((angle * 180) / Math.PI).toFixed(2)

/** The whole flight, recomputed from its stick inputs: 20 rows a second and its last moment. x is east, y up, z north. */
export function flightCsv(flight: Flight): string {
  const rows = [columns.join(',')]
  for (let moment = flight.at(0); ; moment = flight.next(moment)) {
    const { step, vehicle: v, course } = moment
    const isLast = step === flight.end.step
    if (step % (STEPS_PER_SECOND / perSecond) === 0 || isLast) {
      const stick = flight.stickAt(Math.max(0, step - 1))
      const turned = ((v.heading * 180) / Math.PI) % 360
      rows.push(
        [
          (step / STEPS_PER_SECOND).toFixed(3),
          ...[v.x, v.y, v.z, v.vx, v.vy, v.vz].map((value) => value.toFixed(3)),
          ((turned + 360) % 360).toFixed(2),
          degrees(v.pitch),
          degrees(v.roll),
          ...[stick.forward, stick.side, stick.turn, stick.climb].map((value) => value.toFixed(2)),
          course.next + 1,
          course.lapFrom === null ? 0 : course.laps + 1,
          course.lapFrom === null ? '' : (course.time - course.lapFrom).toFixed(3),
          v.bumps,
        ].join(','),
      )
    }
    if (isLast) return `${rows.join('\r\n')}\r\n`
  }
}
