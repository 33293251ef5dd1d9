import { Camera } from './camera.ts'
import { Controls } from './controls.ts'
import { flightCsv } from './csv.ts'
import { openData } from './data.ts'
import { draw } from './draw.ts'
import { followServer } from './head.ts'
import { WorldMap } from './map.ts'
import { Palette } from './palette.ts'
import { Session } from './session.ts'
import { headingText, lapText, readTelemetry, spokenTelemetry } from './telemetry.ts'
import { type Kind, STEPS_PER_SECOND } from './vehicle.ts'
import type { World } from './world.ts'
import { worlds } from './worlds.ts'

const find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const view = find('view')
const picture = view.querySelector('canvas') as HTMLCanvasElement
const pen = picture.getContext('2d', { alpha: false })
const map = new WorldMap(find<HTMLCanvasElement>('map'))
const slider = find<HTMLInputElement>('moment')
const stillWanted = matchMedia('(prefers-reduced-motion: reduce)')

let palette = new Palette()
const camera = new Camera()
/** What the server was started with. Several vehicles take turns: the UAV begins. */
const { environment = '', vehicle: started } = document.body.dataset
const firstWorld = worlds[environment.toLowerCase() as World['id']] ?? worlds.blocks
const session = new Session(firstWorld, started === 'ugv' ? 'ugv' : 'uav', !stillWanted.matches)
for (const value of [session.world.id, session.kind])
  for (const input of find('pick').querySelectorAll('input')) if (input.value === value) input.checked = true
const controls = new Controls(find('sim'), () => {
  if (session.mode === 'fly' && session.onAutopilot) setAutopilot(false)
})

let announcedLaps = 0

/** Shows a sentence, and tells it to screen readers. */
let clearing = 0
function say(sentence: string): void {
  const said = find('said')
  // Change repeated words, or screen readers stay silent.
  said.textContent = said.textContent === sentence ? `${sentence}\u00a0` : sentence
  clearTimeout(clearing)
  clearing = window.setTimeout(() => said.replaceChildren(), 15_000)
}

function show(id: string, text: string): void {
  const element = find(id)
  if (element.textContent !== text) element.textContent = text
}

const press = (id: string, pressed: boolean) => find(id).setAttribute('aria-pressed', String(pressed))

function setAutopilot(on: boolean): void {
  session.onAutopilot = on
  press('autopilot', on)
}

function setPaused(on: boolean): void {
  session.paused = on
  press('pause', on)
}

function showMode(): void {
  const { mode } = session
  document.body.dataset.mode = mode
  document.body.dataset.kind = session.kind
  press('replay', mode === 'replay')
  press('pause', session.paused)
  find('replaying').hidden = mode === 'fly'
  find<HTMLButtonElement>('autopilot').disabled = mode === 'replay'
  slider.max = String(session.flight.end.step)
  find('turn-camera').hidden = camera.mode === 'follow'
  camera.snap()
}

function restart(world = session.world, kind = session.kind): void {
  session.reset(world, kind)
  setPaused(false)
  announcedLaps = 0
  view.setAttribute('aria-label', `Flight view: ${kind === 'uav' ? 'a UAV' : 'a UGV'} in ${world.name}`)
  showMode()
}

function showTelemetry(): void {
  const { shown, world, kind, flight, nextGate } = session
  const { course, vehicle } = shown
  const t = readTelemetry(world, kind, vehicle, course, nextGate)
  show('lap', lapText(t.lap ?? 0))
  show('laps', t.lap === null ? 'Clock starts at gate 1' : `Lap ${course.laps + 1}`)
  show('best', course.best === null ? '' : `Best ${lapText(course.best)}`)
  show('gate', `${course.next + 1} / ${flight.gates.length}`)
  show('speed', `${t.speed.toFixed(1)} m/s`)
  show('height', `${t.height.toFixed(1)} m`)
  show('heading', headingText(t.heading))
  show('range', t.range === null ? '> 40 m' : `${t.range.toFixed(1)} m`)
  show('distance', `${t.gate.distance.toFixed(0)} m`)
  show('bumps', String(vehicle.bumps))
  if (session.mode === 'replay') {
    const seconds = shown.step / STEPS_PER_SECOND
    if (document.activeElement !== slider || !session.paused) slider.value = String(shown.step)
    const all = flight.end.step / STEPS_PER_SECOND
    slider.ariaValueText = `${seconds.toFixed(0)} of ${all.toFixed(0)} seconds`
    show('of', `${lapText(seconds)} of ${lapText(all)}`)
  }
  map.draw(world, palette, vehicle, flight.gates, course.next, session.trail)
  // Announce only laps flown by hand. The autopilot's would be chatter.
  if (course.laps > announcedLaps && session.mode === 'fly' && !session.onAutopilot && course.last !== null)
    say(`Lap ${course.laps}: ${course.last.toFixed(2)} seconds${course.last === course.best ? ', your best' : ''}.`)
  if (session.mode === 'fly') announcedLaps = course.laps
}

const recordingName = () => `${session.world.id}-${session.kind}`

function download(): void {
  const url = URL.createObjectURL(new Blob([flightCsv(session.flight)], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${recordingName()}-flight.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

find('autopilot').addEventListener('click', () => setAutopilot(!session.onAutopilot))
find('pause').addEventListener('click', () => setPaused(!session.paused))
find('reset').addEventListener('click', () => restart())
find('replay').addEventListener('click', () => {
  if (session.mode === 'replay') session.backToFlight()
  else session.replay()
  showMode()
})
find('camera').addEventListener('click', () => {
  camera.toggle()
  press('camera', camera.mode === 'free')
  find('turn-camera').hidden = camera.mode === 'follow'
})
find('read').addEventListener('click', () => {
  const { shown, world, kind, flight, nextGate } = session
  const read = readTelemetry(world, kind, shown.vehicle, shown.course, nextGate)
  say(spokenTelemetry(kind, shown.course, flight.gates.length, read))
})
find('csv').addEventListener('click', download)
openData({
  say,
  record: () => {
    const at = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
    return { name: `${recordingName()}-${at}.csv`, text: flightCsv(session.flight) }
  },
})
slider.addEventListener('input', () => {
  setPaused(true)
  session.seek(slider.valueAsNumber)
})
find('pick').addEventListener('change', ({ target }) => {
  const { name, value } = target as HTMLInputElement
  if (name === 'world') restart(worlds[value as World['id']])
  else restart(undefined, value as Kind)
})
// After a click, the keys steer again. When people choose with the keys, the focus stays here.
find('pick').addEventListener('click', ({ detail, target }) => {
  if (detail > 0 && target instanceof HTMLInputElement) view.focus()
})

view.addEventListener('pointerdown', (event) => {
  view.focus()
  if (camera.mode === 'free') view.setPointerCapture(event.pointerId)
})
view.addEventListener('pointermove', (event) => {
  if (camera.mode === 'free' && view.hasPointerCapture(event.pointerId))
    camera.turn(event.movementX * 0.006, event.movementY * -0.005)
})
view.addEventListener(
  'wheel',
  (event) => {
    if (camera.mode === 'follow') return
    event.preventDefault()
    camera.turn(0, 0, Math.exp(event.deltaY * 0.001))
  },
  { passive: false },
)

let size: readonly [number, number] = [0, 0]
const sharpest = Math.min(2, devicePixelRatio || 1)
let ratio = sharpest
function fit(): void {
  size = [view.clientWidth, view.clientHeight]
  if (picture.width === Math.round(size[0] * ratio) && picture.height === Math.round(size[1] * ratio)) return
  picture.width = Math.max(1, Math.round(size[0] * ratio))
  picture.height = Math.max(1, Math.round(size[1] * ratio))
}

/** A machine that can't keep up paints fewer pixels until it can. */
const judged = 150
let frames = 0
let late = 0
function watchSpeed(dt: number): void {
  frames += 1
  if (dt > 0.022) late += 1
  if (frames < judged) return
  const wanted = late > judged / 3 ? ratio * 0.8 : late < judged / 50 ? ratio * 1.25 : ratio
  ratio = Math.max(0.75, Math.min(sharpest, wanted))
  frames = late = 0
  fit()
}

let last = 0
let spin = 0
let telemetryDue = 0
function frame(now: number): void {
  const dt = Math.min(0.1, (now - last) / 1000)
  last = now
  watchSpeed(dt)
  session.pass(dt, controls.stick)
  const { yaw, tilt, zoom } = controls.look
  if (camera.mode === 'free') camera.turn(yaw * dt * 1.4, tilt * dt, Math.exp(-zoom * dt))
  const { world, kind, shown, flight, lidar, trail } = session
  if (!session.paused) spin += dt * 41
  const eye = camera.look(world, shown.vehicle, dt)
  if (pen) {
    pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    draw(pen, size, palette, {
      world,
      kind,
      vehicle: shown.vehicle,
      gates: flight.gates,
      next: shown.course.next,
      eye,
      points: lidar.points,
      trail,
      spin: stillWanted.matches ? null : spin,
    })
  }
  if (now > telemetryDue) {
    telemetryDue = now + 100
    showTelemetry()
  }
  requestAnimationFrame(frame)
}

followServer(() => {
  setPaused(true)
  const bar = find('gone')
  const { dashboard } = bar.dataset
  bar.append('This server is gone. Someone stopped it, or its free minutes ran out. ')
  if (!dashboard) return bar.append('Your dashboard says which.')
  const link = document.createElement('a')
  link.href = dashboard
  link.textContent = 'Your dashboard'
  bar.append(link, ' says which.')
})

const repaint = () => {
  palette = new Palette()
}
for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
  matchMedia(query).addEventListener('change', repaint)
new ResizeObserver(fit).observe(view)
fit()
restart()
setAutopilot(session.onAutopilot)
// The keys steer from the start, without a focus ring around the picture.
find('sim').focus({ preventScroll: true })
requestAnimationFrame((now) => {
  last = now
  frame(now)
})
