import { readControls } from './controls.js'
import { createScene } from './scene.js'
import { autopilot, fly, groundHeight, lidarReturn, startVehicle, waypoints } from './vehicle.js'

const stepSeconds = 1 / 120
const beamsPerSecond = 480

const scene = createScene(document.getElementById('view'))
const stillWanted = matchMedia('(prefers-reduced-motion: reduce)')
let vehicle = startVehicle()
let trail = []
let returns = []
let beams = 0
let fliesItself = !stillWanted.matches
let paused = false
let last = 0
let due = 0

const stick = readControls(() => setAutopilot(false))

function toggle(id, pressed) {
  document.getElementById(id).setAttribute('aria-pressed', String(pressed))
}

function setAutopilot(on) {
  fliesItself = on
  toggle('autopilot', on)
}

function simulate() {
  const before = vehicle.time
  vehicle = fly(vehicle, fliesItself ? autopilot(vehicle) : stick(), stepSeconds)
  if (Math.floor(vehicle.time * 12) > Math.floor(before * 12)) trail = [...trail.slice(-90), vehicle]
  while (beams < vehicle.time * beamsPerSecond) returns.push({ ...lidarReturn(vehicle, beams++), time: vehicle.time })
}

function show(id, text) {
  document.getElementById(id).textContent = text
}

function showTelemetry() {
  const degrees = ((((vehicle.heading * 180) / Math.PI) % 360) + 360) % 360
  show('time', `${vehicle.time.toFixed(1)} s`)
  show('speed', `${vehicle.speed.toFixed(1)} m/s`)
  show('heading', `${String(Math.floor(degrees)).padStart(3, '0')}°`)
  show('height', `${(vehicle.y - groundHeight(vehicle.x, vehicle.z)).toFixed(1)} m`)
  show('position', `${vehicle.x.toFixed(0)} ${vehicle.z.toFixed(0)} m`)
  show('waypoint', `${vehicle.waypoint + 1} / ${waypoints.length}`)
  show('lidar', `${returns.length} pts`)
}

function frame(now) {
  // Don't catch up after a pause or a hidden tab.
  const dt = Math.min(0.1, (now - last) / 1000)
  last = now
  if (!paused) {
    for (due += dt; due >= stepSeconds; due -= stepSeconds) simulate()
    returns = returns.filter((point) => vehicle.time - point.time < 8)
  }
  scene.draw({ vehicle, trail, returns, dt })
  requestAnimationFrame(frame)
}

/** One lost answer may be the network; two in a row mean that the server is gone. */
let silent = 0
async function lookForServer() {
  const answered = await fetch('/', { method: 'HEAD' }).catch(() => null)
  silent = answered?.ok ? 0 : silent + 1
  if (silent < 2) return
  clearInterval(looking)
  paused = true
  show('gone', 'This server is gone: it was stopped, or its free minutes are used up. Your dashboard says which.')
}
const looking = setInterval(lookForServer, 2000)

document.getElementById('autopilot').addEventListener('click', () => setAutopilot(!fliesItself))
document.getElementById('pause').addEventListener('click', () => {
  paused = !paused
  toggle('pause', paused)
})
new ResizeObserver(() => scene.fit()).observe(document.getElementById('view'))
setInterval(showTelemetry, 100)
setAutopilot(fliesItself)
requestAnimationFrame(frame)
