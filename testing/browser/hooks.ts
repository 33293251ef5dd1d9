import { act, createElement, type ReactNode } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { afterEach, type Mock, vi } from 'vitest'

/** React in happy-dom, for a test file that starts with `@vitest-environment happy-dom`. */

/** What a browser would report as an uncaught error. */
export const reportError: Mock<(error: unknown) => void> = vi.fn()

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true, reportError })

const mounted: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const unmount of mounted.splice(0)) await unmount()
  document.body.replaceChildren()
  reportError.mockClear()
})

type Page = { element: HTMLElement; render: (node: ReactNode) => Promise<void>; unmount: () => Promise<void> }

/**
 * Mounts it in its own page.
 * @param html the server's HTML, maybe with text a person has typed: React hydrates it and must find in it what it
 * would render
 */
export async function mount(node: ReactNode, html?: HTMLElement): Promise<Page> {
  const element = html ?? document.createElement('div')
  document.body.append(element)
  const faults: unknown[] = []
  const root = await act(() => {
    if (html) return hydrateRoot(element, node, { onRecoverableError: (error) => faults.push(error) })
    const fresh = createRoot(element)
    fresh.render(node)
    return fresh
  })
  if (faults.length) throw faults[0]
  const unmount = () => act(async () => root.unmount())
  mounted.push(unmount)
  return { element, unmount, render: (next) => act(async () => root.render(next)) }
}

/** Runs a hook as a component would. */
export async function renderHook<P, R>(hook: (props: P) => R, props: P) {
  const result = {} as { current: R }
  function Host({ given }: { given: P }) {
    result.current = hook(given)
    return null
  }
  const page = await mount(createElement(Host, { given: props }))
  return {
    result,
    unmount: page.unmount,
    rerender: (next: P) => page.render(createElement(Host, { given: next })),
  }
}

/** Sends the tab to the background, or brings it back. */
export function hide(hidden: boolean): Promise<void> {
  Object.defineProperty(document, 'hidden', { configurable: true, value: hidden })
  Object.defineProperty(document, 'visibilityState', { configurable: true, value: hidden ? 'hidden' : 'visible' })
  return act(async () => {
    // It bubbles as in a browser, because some code listens on the window.
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  })
}
