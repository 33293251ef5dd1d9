import type { ReactNode } from 'react'
import { Card } from '../ui/Card.tsx'

/** Small drawings, 160 × 64, each drawn from `left`. They are decoration: the step says the same in words. */
const STEPS: { title: string; text: string; left: number; picture: ReactNode }[] = [
  {
    title: 'Start a server',
    text: 'Press Start Server above. Startup is free.',
    left: 19,
    picture: (
      <>
        <path className="faint" d="M20 14h64v36H20zM20 32h64" />
        <path className="mint" d="M30 23h20M30 41h20M72 23v.1M72 41v.1" />
        <path className="amber" d="M116 20l22 12-22 12z" />
      </>
    ),
  },
  {
    title: 'Fly',
    text: "Press Open simulator once it's ready, and fly a drone or drive a rover in your browser.",
    left: 3,
    picture: (
      <>
        <path className="faint" d="M4 56q20-18 38-8t34-6 40 4 40-10" />
        <path className="mint" d="M66 22h28l6 8H60zM52 14v8h-8m0-8h16m40 0h16m-8 0v8h-8M66 30l-6 8m34-8l6 8" />
        <path className="amber" d="M80 34v14" strokeDasharray="2 4" />
      </>
    ),
  },
  {
    title: 'Stop and see the bill',
    text: "Press Stop when you're done. Time and cost show up here right away, to the second.",
    left: 55,
    picture: (
      <>
        <path className="faint" d="M56 8h48v50l-8-5-8 5-8-5-8 5-8-5-8 5z" />
        <path className="mint" d="M66 20h16M66 30h10M66 42h12" />
        <path className="amber" d="M92 20h4M90 30h6M86 42h10" />
      </>
    ),
  },
]

/** For a dashboard without sessions. It needs no script: it hides once the table beside it has a row. */
export function FirstRun() {
  return (
    <div className="first-run">
      <Card title="Your first flight">
        <ol className="steps">
          {STEPS.map(({ title, text, left, picture }) => (
            <li key={title}>
              <svg className="step-picture" viewBox={`${left} 0 160 64`} aria-hidden="true">
                {picture}
              </svg>
              <h3>{title}</h3>
              <p className="muted">{text}</p>
            </li>
          ))}
        </ol>
      </Card>
    </div>
  )
}
