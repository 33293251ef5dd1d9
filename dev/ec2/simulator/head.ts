/** What the server reports about itself, as text. */
type Run = { up: string }

const everyMs = 1000
const patience = 2500

/**
 * Shows how long the server has run, and calls `onGone` once it no longer answers. One lost answer may be the network's
 * fault; three in a row mean that the server is gone.
 */
export function followServer(onGone: () => void): void {
  let silent = 0
  const look = async () => {
    const run = await ask()
    silent = run ? 0 : silent + 1
    if (run) show('up', run.up)
    if (silent === 3) onGone()
    setTimeout(look, everyMs)
  }
  void look()
}

/** Whether someone pressed anything since we last asked: a page that is merely open isn't in use. */
let isUsed = false
for (const press of ['keydown', 'pointerdown'])
  addEventListener(press, () => {
    isUsed = true
  })

async function ask(): Promise<Run | null> {
  const path = isUsed ? '/run?used' : '/run'
  isUsed = false
  try {
    const answer = await fetch(path, { signal: AbortSignal.timeout(patience) })
    return answer.ok ? await answer.json() : null
  } catch {
    return null
  }
}

function show(id: string, text: string): void {
  const element = document.getElementById(id)
  if (element && element.textContent !== text) element.textContent = text
}
