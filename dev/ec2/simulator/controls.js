const keys = {
  KeyW: ['forward', 1],
  ArrowUp: ['forward', 1],
  KeyS: ['forward', -1],
  ArrowDown: ['forward', -1],
  KeyA: ['turn', -1],
  ArrowLeft: ['turn', -1],
  KeyD: ['turn', 1],
  ArrowRight: ['turn', 1],
  KeyR: ['climb', 1],
  KeyF: ['climb', -1],
}

/** Reads the keys and on-screen buttons held down. Calls `onSteer` when someone takes the stick. */
export function readControls(onSteer) {
  const held = new Map()
  const press = (what, axis, value) => {
    held.set(what, [axis, value])
    onSteer()
  }

  addEventListener('keydown', (event) => {
    const key = keys[event.code]
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    press(event.code, ...key)
  })
  addEventListener('keyup', (event) => held.delete(event.code))

  for (const button of document.querySelectorAll('[data-axis]')) {
    const hold = () => {
      press(button, button.dataset.axis, Number(button.dataset.value))
      button.classList.add('held')
    }
    const release = () => {
      held.delete(button)
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
  addEventListener('blur', () => held.clear())

  return () => {
    const stick = { forward: 0, turn: 0, climb: 0 }
    for (const [axis, value] of held.values()) stick[axis] = Math.max(-1, Math.min(1, stick[axis] + value))
    return stick
  }
}
