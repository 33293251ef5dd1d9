import { atRest, clamp, DT, GRAVITY, type Model, pushOut, settle } from './vehicle.ts'

const forwardSpeed = 12
const backSpeed = 5
const sideSpeed = 7
const climbSpeed = 5
const sinkSpeed = 4
const turnRate = 1.7
const tilt = 0.55
/** Air resistance, per second. */
const drag = 0.25
const ceiling = 60
const clearance = 0.35

/** The tilt that holds `wanted` m/s against the air, plus some to correct an error. */
const tiltFor = (wanted: number, speed: number) =>
  clamp(Math.atan((drag * wanted) / GRAVITY) + 0.11 * (wanted - speed), -tilt, tilt)

/** A quadrotor that tilts to hold the speed you request: only the tilt moves it sideways. */
export const uav: Model = {
  kind: 'uav',
  name: 'UAV',
  radius: 0.8,
  start: (world, { x, z, heading, y }) => {
    const at = [x - 14 * Math.sin(heading), z - 14 * Math.cos(heading)] as const
    return atRest(at[0], Math.max(world.ground(...at) + 2, y), at[1], heading)
  },
  step(world, vehicle, stick) {
    const turning = settle(vehicle.turning, stick.turn * turnRate, 6)
    const heading = vehicle.heading + turning * DT
    const [sin, cos] = [Math.sin(heading), Math.cos(heading)]
    const ahead = vehicle.vx * sin + vehicle.vz * cos
    const right = vehicle.vx * cos - vehicle.vz * sin
    const wantedAhead = stick.forward * (stick.forward < 0 ? backSpeed : forwardSpeed)
    const pitch = settle(vehicle.pitch, -tiltFor(wantedAhead, ahead), 9)
    const roll = settle(vehicle.roll, tiltFor(stick.side * sideSpeed, right), 9)
    const push = -GRAVITY * Math.tan(pitch) - drag * ahead
    const shove = GRAVITY * Math.tan(roll) - drag * right
    const vx = vehicle.vx + (push * sin + shove * cos) * DT
    const vz = vehicle.vz + (push * cos - shove * sin) * DT
    const vy = settle(vehicle.vy, stick.climb * (stick.climb < 0 ? sinkSpeed : climbSpeed), 4)
    const travel = vehicle.travel + Math.sqrt(vx * vx + vy * vy + vz * vz) * DT
    const x = vehicle.x + vx * DT
    const z = vehicle.z + vz * DT
    const moved = { ...vehicle, x, z, y: vehicle.y + vy * DT, vx, vy, vz, heading, turning, pitch, roll, travel }
    return land(pushOut(world, moved, this.radius), world.ground(x, z))
  },
}

function land(vehicle: ReturnType<Model['step']>, ground: number) {
  if (vehicle.y > ground + ceiling) return { ...vehicle, y: ground + ceiling, vy: Math.min(0, vehicle.vy) }
  if (vehicle.y > ground + clearance) return vehicle
  const bumps = vehicle.bumps + (vehicle.vy < -3 ? 1 : 0)
  // On the ground, its skids hold it.
  const vx = settle(vehicle.vx, 0, 3)
  const vz = settle(vehicle.vz, 0, 3)
  return { ...vehicle, y: ground + clearance, vx, vz, vy: Math.max(0, vehicle.vy), bumps }
}
