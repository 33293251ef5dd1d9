import { clamp, type Stick } from './vehicle.ts'

type Axis = keyof Stick
type Look = { yaw: number; tilt: number; zoom: number }

const steering: Record<string, [Axis, number]> = {
  KeyW: ['forward', 1],
  ArrowUp: ['forward', 1],
  KeyS: ['forward', -1],
  ArrowDown: ['forward', -1],
  KeyA: ['turn', -1],
  ArrowLeft: ['turn', -1],
  KeyD: ['turn', 1],
  ArrowRight: ['turn', 1],
  KeyQ: ['side', -1],
  KeyE: ['side', 1],
  KeyR: ['climb', 1],
  KeyF: ['climb', -1],
}

const looking: Record<string, [keyof Look, number]> = {
  KeyJ: ['yaw', -1],
  KeyL: ['yaw', 1],
  KeyI: ['tilt', -1],
  KeyK: ['tilt', 1],
  KeyU: ['zoom', 1],
  KeyO: ['zoom', -1],
}

/** The keys and on-screen buttons held down inside `area`. Keys count only while the focus is in there. */
export class Controls {
  readonly #held = new Map<string | Element, [string, number]>()

  /** @param onSteer called when someone starts to steer */
  constructor(area: HTMLElement, onSteer: () => void) {
    const press = (what: string | Element, axis: string, value: number) => {
      this.#held.set(what, [axis, value])
      if (!(axis in { yaw: 0, tilt: 0, zoom: 0 })) onSteer()
    }
    area.addEventListener('keydown', (event) => {
      const key = steering[event.code] ?? looking[event.code]
      // In a list or a slider, letters and arrows choose a value.
      const chooses = event.target instanceof Element && event.target.matches('input, select')
      if (!key || chooses || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      press(event.code, key[0], key[1])
    })
    addEventListener('keyup', (event) => this.#held.delete(event.code))
    for (const button of area.querySelectorAll<HTMLButtonElement>('[data-axis]')) {
      const hold = () => {
        press(button, button.dataset.axis ?? '', Number(button.dataset.value))
        button.classList.add('held')
      }
      const release = () => {
        this.#held.delete(button)
        button.classList.remove('held')
      }
      button.addEventListener('pointerdown', (event) => {
        button.setPointerCapture(event.pointerId)
        hold()
      })
      for (const end of ['pointerup', 'pointercancel', 'lostpointercapture', 'blur'])
        button.addEventListener(end, release)
      // Enter and the space bar also hold a focused button.
      button.addEventListener('keydown', (event) => {
        if (event.code === 'Space' || event.code === 'Enter') hold()
      })
      button.addEventListener('keyup', release)
      button.addEventListener('contextmenu', (event) => event.preventDefault())
    }
    // The browser doesn't report keys released while the page lacks focus.
    addEventListener('blur', () => this.#held.clear())
  }

  get stick(): Stick {
    return {
      forward: this.#sum('forward'),
      side: this.#sum('side'),
      turn: this.#sum('turn'),
      climb: this.#sum('climb'),
    }
  }

  get look(): Look {
    return { yaw: this.#sum('yaw'), tilt: this.#sum('tilt'), zoom: this.#sum('zoom') }
  }

  #sum(axis: string): number {
    let sum = 0
    for (const [held, value] of this.#held.values()) if (held === axis) sum += value
    return clamp(sum)
  }
}
