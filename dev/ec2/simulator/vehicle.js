// The vehicle and its world, as pure functions of state, stick, and time step, so runs repeat exactly.

/** Ground height in meters at x (east) and z (north). */
export function groundHeight(x, z) {
  return (
    2.6 * Math.sin(x * 0.09) * Math.cos(z * 0.075) +
    1.2 * Math.sin(x * 0.23 + 1.3) * Math.sin(z * 0.19) +
    0.4 * Math.sin(x * 0.53) * Math.cos(z * 0.47)
  )
}

export const waypoints = Array.from({ length: 8 }, (_, i) => {
  const angle = (i / 8) * 2 * Math.PI
  return { x: (34 + 10 * Math.sin(3 * angle)) * Math.sin(angle), z: (34 + 8 * Math.cos(2 * angle)) * Math.cos(angle) }
})

export function startVehicle() {
  return { x: 0, z: 0, y: groundHeight(0, 0) + 5, speed: 0, rise: 0, heading: 0.8, turning: 0, waypoint: 0, time: 0 }
}

const approach = (value, target, rate, dt) => value + (target - value) * (1 - Math.exp(-rate * dt))
const lowest = 0.6

/** Advances `dt` seconds. `stick` holds forward, turn, and climb, each from -1 to 1. */
export function fly(vehicle, stick, dt) {
  const speed = approach(vehicle.speed, stick.forward * (stick.forward < 0 ? 4 : 9), 1.6, dt)
  const turning = approach(vehicle.turning, stick.turn * 1.3, 5, dt)
  const rise = approach(vehicle.rise, stick.climb * 4, 3, dt)
  const heading = vehicle.heading + turning * dt
  const x = vehicle.x + Math.sin(heading) * speed * dt
  const z = vehicle.z + Math.cos(heading) * speed * dt
  const y = Math.min(40, Math.max(vehicle.y + rise * dt, groundHeight(x, z) + lowest))
  const target = waypoints[vehicle.waypoint]
  const reached = Math.hypot(target.x - x, target.z - z) < 2.5
  const waypoint = reached ? (vehicle.waypoint + 1) % waypoints.length : vehicle.waypoint
  return { x, y, z, speed, turning, rise, heading, waypoint, time: vehicle.time + dt }
}

/** Steers to the next waypoint, five meters above the ground ahead. */
export function autopilot(vehicle) {
  const target = waypoints[vehicle.waypoint]
  const bearing = Math.atan2(target.x - vehicle.x, target.z - vehicle.z)
  const error = Math.atan2(Math.sin(bearing - vehicle.heading), Math.cos(bearing - vehicle.heading))
  const ahead = groundHeight(vehicle.x + 4 * Math.sin(vehicle.heading), vehicle.z + 4 * Math.cos(vehicle.heading))
  const wanted = Math.max(ahead, groundHeight(vehicle.x, vehicle.z)) + 5
  const clamp = (value) => Math.max(-1, Math.min(1, value))
  return {
    forward: 0.75 * Math.max(0.2, Math.cos(error)),
    turn: clamp(error * 1.8),
    climb: clamp((wanted - vehicle.y) * 0.6),
  }
}

/** Where the given lidar beam hits the ground. Successive beams sweep around a disk below and ahead. */
export function lidarReturn(vehicle, beam) {
  const angle = beam * 2.399963
  const reach = 11 * Math.sqrt((beam % 97) / 97)
  const x = vehicle.x + 6 * Math.sin(vehicle.heading) + reach * Math.cos(angle)
  const z = vehicle.z + 6 * Math.cos(vehicle.heading) + reach * Math.sin(angle)
  return { x, y: groundHeight(x, z), z }
}
