import { advance, type Course, gatesOf, startCourse } from './course.ts'
import { uav } from './uav.ts'
import { ugv } from './ugv.ts'
import { type Kind, type Model, STEPS_PER_SECOND, type Stick, type Vehicle } from './vehicle.ts'
import type { Gate, World } from './world.ts'

/** One moment of a flight. */
export type Moment = { step: number; vehicle: Vehicle; course: Course }

const models: Record<Kind, Model> = { uav, ugv }
const markEvery = 5 * STEPS_PER_SECOND

const same = (a: Stick, b: Stick) =>
  a.forward === b.forward && a.side === b.side && a.turn === b.turn && a.climb === b.climb

/**
 * A flight stores only its stick inputs. Everything else follows from them, so a replay, the CSV, and the flight itself
 * agree to the last digit.
 */
export class Flight {
  readonly world: World
  readonly model: Model
  readonly gates: Gate[]
  /** The stick inputs, and the step at which each began. */
  readonly #changes: { from: number; stick: Stick }[] = []
  /** A moment every 5 s, so that a jump needn't start at the beginning. */
  readonly #marks: Moment[]
  #end: Moment

  constructor(world: World, kind: Kind) {
    this.world = world
    this.model = models[kind]
    this.gates = gatesOf(world, kind)
    const vehicle = this.model.start(world, this.gates[0] as Gate)
    this.#end = { step: 0, vehicle, course: startCourse() }
    this.#marks = [this.#end]
  }

  get end(): Moment {
    return this.#end
  }

  /** Flies one step. */
  fly(stick: Stick): Moment {
    const { step } = this.#end
    const before = this.#changes.at(-1)
    if (!before || !same(before.stick, stick)) this.#changes.push({ from: step, stick: { ...stick } })
    this.#end = this.#after(this.#end, stick)
    if (this.#end.step % markEvery === 0) this.#marks.push(this.#end)
    return this.#end
  }

  /** A moment of this flight, recomputed from the stick inputs. */
  at(step: number): Moment {
    const wanted = Math.max(0, Math.min(this.#end.step, Math.round(step)))
    let moment = this.#marks[Math.floor(wanted / markEvery)] as Moment
    while (moment.step < wanted) moment = this.next(moment)
    return moment
  }

  /** The moment after this one. At the end of the flight, it stays there. */
  next(moment: Moment): Moment {
    return moment.step < this.#end.step ? this.#after(moment, this.stickAt(moment.step)) : moment
  }

  stickAt(step: number): Stick {
    let [low, high] = [0, this.#changes.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#changes[middle] as { from: number }).from <= step) low = middle
      else high = middle - 1
    }
    return this.#changes[low]?.stick ?? { forward: 0, side: 0, turn: 0, climb: 0 }
  }

  #after({ step, vehicle, course }: Moment, stick: Stick): Moment {
    const moved = this.model.step(this.world, vehicle, stick)
    return { step: step + 1, vehicle: moved, course: advance(course, this.gates, vehicle, moved) }
  }
}
