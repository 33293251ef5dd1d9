import type { ReactNode } from 'react'

/** Small drawings for the feature cards, all 320 × 120. Their text is decoration: the card says the same in words. */
function Diagram({ children }: { children: ReactNode }) {
  return (
    <svg className="diagram" viewBox="0 0 320 120" preserveAspectRatio="xMinYMid" aria-hidden="true">
      {children}
    </svg>
  )
}

const WAVE = 'c20-26 36-26 56 0s34 22 54-6 40-20 60 4 40 22 70-8'

/** Two runs over the same time steps, with no difference between them. */
export function TimeSteps() {
  return (
    <Diagram>
      <path className="ticks" d="M40 100H282" strokeDasharray="1 7" strokeWidth="6" />
      <path className="ticks" d="M40 98H282" strokeDasharray="1 39" strokeWidth="12" />
      <path className="mint" d={`M40 36${WAVE}`} />
      <path className="amber" d={`M40 68${WAVE}`} />
      <text y="40">run 1</text>
      <text y="72">run 2</text>
      <text x="320" y="56" textAnchor="end">
        Δ 0
      </text>
    </Diagram>
  )
}

/** A session: startup is free; the meter runs from the server's first answer to the stop. */
export function SessionTimeline() {
  return (
    <Diagram>
      <path className="faint" d="M0 60H320" />
      <path className="yellow" d="M8 60H84" strokeWidth="8" strokeDasharray="3 3" />
      <path className="mint" d="M86 60H262" strokeWidth="8" />
      <path className="faint" d="M86 34V92M262 34V92" />
      <text x="8" y="44">
        startup
      </text>
      <text x="8" y="86">
        $0
      </text>
      <text x="96" y="44">
        ready
      </text>
      <text x="96" y="86">
        600 s × $0.0004861
      </text>
      <text x="272" y="44">
        stop
      </text>
    </Diagram>
  )
}

/** A quadrotor and a rover, with their dimensions. */
export function Vehicles() {
  return (
    <Diagram>
      <path
        className="mint"
        d="M58 56h24M70 56v-8M34 48h72M34 48v-5M106 48v-5M12 43h44M84 43h44M62 56v8h16v-8M54 78l8-14M86 78l-8-14"
      />
      <path className="faint" d="M12 96h116M12 91v10M128 91v10" />
      <path
        className="amber"
        d="M196 70h92v-16h-22l-12-16h-30v16h-28zM224 38v-12h10M203 78a9 9 0 1 0 18 0a9 9 0 1 0-18 0M262 78a9 9 0 1 0 18 0a9 9 0 1 0-18 0"
      />
      <path className="faint" d="M196 96h92M196 91v10M288 91v10" />
      <text x="70" y="115" textAnchor="middle">
        UAV
      </text>
      <text x="242" y="115" textAnchor="middle">
        UGV
      </text>
    </Diagram>
  )
}
