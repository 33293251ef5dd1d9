import { autopilot } from './autopilot.ts'
import { Flight, type Moment } from './flight.ts'
import { Lidar } from './lidar.ts'
import { DT, type Kind, NEUTRAL, STEPS_PER_SECOND, type Stick } from './vehicle.ts'
import type { Gate, Vec, World } from './world.ts'

/** The autopilot decides 20 times a second. */
const thinkEvery = STEPS_PER_SECOND / 20
const trailEvery = 8
const trailLength = 60
/** In seconds. After the page was hidden or busy, the flight continues where it was. */
const longestFrame = 0.1

/** What the page shows: a live flight, or its replay. */
export class Session {
  flight: Flight
  shown: Moment
  lidar: Lidar
  trail: Vec[] = []
  mode: 'fly' | 'replay' = 'fly'
  paused = false
  onAutopilot: boolean
  #world: World
  #kind: Kind
  #due = 0
  #auto: Stick = NEUTRAL

  constructor(world: World, kind: Kind, onAutopilot: boolean) {
    this.#world = world
    this.#kind = kind
    this.onAutopilot = onAutopilot
    this.flight = new Flight(world, kind)
    this.shown = this.flight.end
    this.lidar = new Lidar(world, kind)
  }

  get world(): World {
    return this.#world
  }

  get kind(): Kind {
    return this.#kind
  }

  get nextGate(): Gate {
    return this.flight.gates[this.shown.course.next] as Gate
  }

  /** Starts a new flight at the first gate, by default in the same world and vehicle. */
  reset(world = this.#world, kind = this.#kind): void {
    this.#world = world
    this.#kind = kind
    this.flight = new Flight(world, kind)
    this.mode = 'fly'
    this.#show(this.flight.end)
  }

  replay(): void {
    this.mode = 'replay'
    this.paused = false
    this.#show(this.flight.at(0))
  }

  backToFlight(): void {
    this.mode = 'fly'
    this.#show(this.flight.end)
  }

  /** Jumps to a step of the replay. */
  seek(step: number): void {
    this.#show(this.flight.at(step))
  }

  /** Advances by `seconds`, in whole steps, so the frame rate doesn't change the flight. */
  pass(seconds: number, stick: Stick): void {
    if (this.paused) return
    for (this.#due += Math.min(longestFrame, seconds); this.#due >= DT; this.#due -= DT) this.#step(stick)
  }

  #step(stick: Stick): void {
    const before = this.shown
    if (this.mode === 'replay') this.shown = this.flight.next(before)
    else this.shown = this.flight.fly(this.onAutopilot ? this.#think() : stick)
    const { step, vehicle } = this.shown
    if (step === before.step) return
    this.lidar.scan(vehicle, step)
    if (step % trailEvery === 0) this.trail = [...this.trail.slice(1 - trailLength), [vehicle.x, vehicle.y, vehicle.z]]
  }

  #think(): Stick {
    const { step, vehicle, course } = this.shown
    const { gates } = this.flight
    const after = gates[(course.next + 1) % gates.length] as Gate
    if (step % thinkEvery === 0) this.#auto = autopilot(this.#world, this.#kind, vehicle, this.nextGate, after)
    return this.#auto
  }

  #show(moment: Moment): void {
    this.shown = moment
    this.lidar = new Lidar(this.#world, this.#kind)
    this.trail = []
    this.#due = 0
    this.#auto = NEUTRAL
  }
}
