import { useState } from 'react'
import { useHydrated } from '../../ui/useHydrated.ts'

const KEY = 'line-sound'
let audio: AudioContext | null = null

function isOn(): boolean {
  try {
    return localStorage.getItem(KEY) === 'on'
  } catch {
    // Storage may be off.
    return false
  }
}

/** Two short tones, if they turned sound on. */
export function ring(): void {
  if (!isOn()) return
  audio ??= new AudioContext()
  for (const [i, pitch] of [660, 880].entries()) {
    const at = audio.currentTime + i * 0.18
    const [tone, volume] = [audio.createOscillator(), audio.createGain()]
    tone.frequency.value = pitch
    volume.gain.setValueAtTime(0.15, at)
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.4)
    tone.connect(volume).connect(audio.destination)
    tone.start(at)
    tone.stop(at + 0.4)
  }
}

/** Off until they turn it on, on this device. The click lets the browser play it later. */
export function SoundSwitch() {
  const hydrated = useHydrated()
  const [on, setOn] = useState(isOn)
  if (!hydrated) return null
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => {
          const wanted = event.currentTarget.checked
          try {
            localStorage.setItem(KEY, wanted ? 'on' : 'off')
          } catch {
            // Then the choice only lasts as long as the page.
          }
          setOn(wanted)
          if (wanted) ring()
        }}
      />
      <span>Play a sound when it’s my turn, while this page is open</span>
    </label>
  )
}
