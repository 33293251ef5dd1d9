import { groundHeight, waypoints } from './vehicle.js'

const cell = 2
const sight = 46
const shades = 6
const mint = '#5be3bb'
const amber = '255, 192, 97'

/** Draws the world from a camera behind the vehicle. */
export function createScene(canvas) {
  const pen = canvas.getContext('2d')
  let width = 0
  let height = 0
  let camera = null
  let heading = null

  function fit() {
    const ratio = Math.min(devicePixelRatio || 1, 2)
    width = canvas.clientWidth
    height = canvas.clientHeight
    canvas.width = width * ratio
    canvas.height = height * ratio
    pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  }

  function aim(vehicle, dt) {
    // The camera lags behind the vehicle to make turns visible.
    const lag = heading === null ? 0 : vehicle.heading - heading
    heading = vehicle.heading - lag * Math.exp(-2.5 * dt)
    const sin = Math.sin(heading)
    const cos = Math.cos(heading)
    const x = vehicle.x - 9 * sin
    const z = vehicle.z - 9 * cos
    const y = Math.max(vehicle.y + 3.4, groundHeight(x, z) + 1.5)
    camera = { x, y, z, sin, cos, dip: 0.3, focal: Math.min(height * 1.05, width * 1.1) }
  }

  /** Projects a world point to the screen; null if it's behind the camera. */
  function project(x, y, z) {
    const dx = x - camera.x
    const dy = y - camera.y
    const dz = z - camera.z
    const ahead = dx * camera.sin + dz * camera.cos
    const right = dx * camera.cos - dz * camera.sin
    const depth = ahead * Math.cos(camera.dip) - dy * Math.sin(camera.dip)
    if (depth < 0.5) return null
    const up = ahead * Math.sin(camera.dip) + dy * Math.cos(camera.dip)
    const scale = camera.focal / depth
    return { x: width / 2 + right * scale, y: height * 0.5 - up * scale, scale }
  }

  function line(from, to, style, thickness = 1) {
    if (!from || !to) return
    pen.strokeStyle = style
    pen.lineWidth = thickness
    pen.beginPath()
    pen.moveTo(from.x, from.y)
    pen.lineTo(to.x, to.y)
    pen.stroke()
  }

  function drawGround(vehicle) {
    const paths = Array.from({ length: shades }, () => new Path2D())
    const centre = { x: Math.round(vehicle.x / cell) * cell, z: Math.round(vehicle.z / cell) * cell }
    const steps = sight / cell
    const corners = new Map()
    const corner = (i, j) => {
      const key = i * 1000 + j
      if (!corners.has(key)) {
        const x = centre.x + i * cell
        const z = centre.z + j * cell
        corners.set(key, project(x, groundHeight(x, z), z))
      }
      return corners.get(key)
    }
    for (let i = -steps; i <= steps; i++) {
      for (let j = -steps; j <= steps; j++) {
        const shade = Math.floor((Math.hypot(i, j) / steps) * shades)
        const from = corner(i, j)
        if (shade >= shades || !from) continue
        for (const to of [corner(i + 1, j), corner(i, j + 1)]) {
          if (!to) continue
          paths[shade].moveTo(from.x, from.y)
          paths[shade].lineTo(to.x, to.y)
        }
      }
    }
    pen.lineWidth = 1
    paths.forEach((path, shade) => {
      pen.strokeStyle = `rgba(88, 178, 170, ${0.42 * (1 - shade / shades) ** 1.4})`
      pen.stroke(path)
    })
  }

  function drawWaypoint(vehicle) {
    const { x, z } = waypoints[vehicle.waypoint]
    const foot = project(x, groundHeight(x, z), z)
    const top = project(x, groundHeight(x, z) + 5, z)
    line(foot, top, `rgba(${amber}, 0.7)`, 1.5)
    if (!top) return
    pen.fillStyle = `rgb(${amber})`
    pen.fillRect(top.x - 3, top.y - 3, 6, 6)
    pen.font = '11px ui-monospace, monospace'
    pen.fillText(
      `WPT ${vehicle.waypoint + 1}  ${Math.hypot(x - vehicle.x, z - vehicle.z).toFixed(0)} m`,
      top.x + 8,
      top.y + 4,
    )
  }

  function drawLidar(returns, now) {
    for (const point of returns) {
      const at = project(point.x, point.y + 0.03, point.z)
      if (!at) continue
      pen.fillStyle = `rgba(${amber}, ${Math.max(0, 1 - (now - point.time) / 8) * 0.9})`
      pen.fillRect(at.x - 1, at.y - 1, 2, 2)
    }
  }

  function drawVehicle(vehicle) {
    const pitch = vehicle.speed * 0.025
    const bank = vehicle.turning * 0.25
    const rotor = (angle) => {
      const forward = 0.75 * Math.cos(angle)
      const right = 0.75 * Math.sin(angle)
      const sin = Math.sin(vehicle.heading)
      const cos = Math.cos(vehicle.heading)
      const y = vehicle.y - forward * pitch - right * bank
      return project(vehicle.x + forward * sin + right * cos, y, vehicle.z + forward * cos - right * sin)
    }
    const body = project(vehicle.x, vehicle.y, vehicle.z)
    if (!body) return
    const shadow = project(vehicle.x, groundHeight(vehicle.x, vehicle.z), vehicle.z)
    line(body, shadow, 'rgba(255, 255, 255, 0.22)')
    for (let k = 0; k < 4; k++) {
      const at = rotor(Math.PI / 4 + (k * Math.PI) / 2)
      line(body, at, '#e8fff8', 2)
      if (!at) continue
      pen.strokeStyle = mint
      pen.lineWidth = 1.5
      pen.beginPath()
      pen.ellipse(at.x, at.y, at.scale * 0.36, at.scale * 0.13, 0, 0, 2 * Math.PI)
      pen.stroke()
    }
    line(body, rotor(0), mint, 2)
    pen.fillStyle = '#e8fff8'
    pen.fillRect(body.x - 3, body.y - 3, 6, 6)
  }

  function drawCompass(vehicle) {
    const perDegree = Math.min(width, 560) / 110
    const degrees = (vehicle.heading * 180) / Math.PI
    pen.font = '11px ui-monospace, monospace'
    pen.textAlign = 'center'
    for (let mark = Math.ceil((degrees - 50) / 10) * 10; mark <= degrees + 50; mark += 10) {
      const x = width / 2 + (mark - degrees) * perDegree
      const round = ((mark % 360) + 360) % 360
      pen.fillStyle = `rgba(200, 230, 222, ${0.85 - Math.abs(mark - degrees) / 65})`
      pen.fillRect(x, 10, 1, round % 30 === 0 ? 9 : 5)
      const name =
        { 0: 'N', 90: 'E', 180: 'S', 270: 'W' }[round] ?? (round % 30 === 0 ? String(round).padStart(3, '0') : '')
      pen.fillText(name, x, 32)
    }
    pen.textAlign = 'start'
    pen.fillStyle = mint
    pen.beginPath()
    pen.moveTo(width / 2, 9)
    pen.lineTo(width / 2 - 5, 1)
    pen.lineTo(width / 2 + 5, 1)
    pen.fill()
  }

  fit()
  return {
    fit,
    /** Draws a frame: the vehicle, its trail, and its lidar points. `dt` is the time since the last frame. */
    draw({ vehicle, trail, returns, dt }) {
      aim(vehicle, dt)
      pen.clearRect(0, 0, width, height)
      drawGround(vehicle)
      drawLidar(returns, vehicle.time)
      const points = trail.map((point) => project(point.x, point.y, point.z))
      for (let i = 1; i < points.length; i++)
        line(points[i - 1], points[i], `rgba(91, 227, 187, ${(0.7 * i) / points.length})`, 1.5)
      drawWaypoint(vehicle)
      drawVehicle(vehicle)
      drawCompass(vehicle)
    },
  }
}
