/** Adds a button to each block of code and each secret. */
export function addCopyButtons(root: ParentNode): void {
  // Absent where the browser doesn't let pages copy.
  if (!navigator.clipboard) return
  for (const block of root.querySelectorAll('.copyable')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'btn btn-small copy'
    button.textContent = 'Copy'
    button.onclick = () => void copy(block.querySelector('code') as HTMLElement, button)
    block.append(button)
  }
}

async function copy(code: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const live = document.getElementById('live')
  const say = (label: string, sentence: string) => {
    button.textContent = label
    if (live) live.textContent = sentence
  }
  try {
    await navigator.clipboard.writeText(code.textContent)
    say('Copied', 'Copied.')
  } catch {
    // The browser refused, so leave the last step to the person.
    getSelection()?.selectAllChildren(code)
    say('Press Ctrl+C', 'Selected. Press Ctrl+C to copy.')
  }
  setTimeout(() => say('Copy', ''), 2_000)
}
