import { atRest, clamp, DT, GRAVITY, type Model, pushOut, settle } from './vehicle.ts'

const forwardSpeed = 9
const backSpeed = 3.5
const lock = 0.55
const wheelbase = 1.3
const track = 1.1
/** The tires' sideways grip, in m/s². */
const grip = 6.5
const turnRate = 1.5

/** A rover that steers with its front wheels: it turns only while it rolls, and hills pull at it. */
export const ugv: Model = {
  kind: 'ugv',
  name: 'UGV',
  radius: 0.95,
  start: (world, { x, z, heading }) => {
    const at = [x - 9 * Math.sin(heading), z - 9 * Math.cos(heading)] as const
    return atRest(at[0], world.ground(...at), at[1], heading)
  },
  step(world, vehicle, stick) {
    const steer = settle(vehicle.steer, clamp(stick.turn + stick.side) * lock, 7)
    const rolling = vehicle.vx * Math.sin(vehicle.heading) + vehicle.vz * Math.cos(vehicle.heading)
    const limit = Math.min(turnRate, grip / Math.max(0.1, Math.abs(rolling)))
    const turning = clamp((rolling * Math.tan(steer)) / wheelbase, -limit, limit)
    const heading = vehicle.heading + turning * DT
    const [sin, cos] = [Math.sin(heading), Math.cos(heading)]
    const wanted = stick.forward * (stick.forward < 0 ? backSpeed : forwardSpeed)
    // Brakes are stronger than the motor.
    const rate = Math.abs(wanted) < Math.abs(rolling) ? 2.4 : 1.3
    const speed = settle(rolling, wanted, rate) - GRAVITY * Math.sin(vehicle.pitch) * 0.35 * DT
    const [vx, vz] = [speed * sin, speed * cos]
    const travel = vehicle.travel + speed * DT
    const [x, z] = [vehicle.x + vx * DT, vehicle.z + vz * DT]
    const moved = pushOut(world, { ...vehicle, x, z, vx, vz, heading, turning, steer, travel }, this.radius)
    const height = (ahead: number, right: number) =>
      world.ground(moved.x + ahead * sin + right * cos, moved.z + ahead * cos - right * sin)
    const [front, back] = [height(wheelbase / 2, 0), height(-wheelbase / 2, 0)]
    const [left, right] = [height(0, -track / 2), height(0, track / 2)]
    const y = (front + back + left + right) / 4
    return {
      ...moved,
      y,
      vy: (y - vehicle.y) / DT,
      pitch: settle(vehicle.pitch, Math.atan((front - back) / wheelbase), 14),
      roll: settle(vehicle.roll, Math.atan((left - right) / track), 14),
    }
  },
}
