import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { Billing } from './docs/Billing.tsx'
import { Ci } from './docs/Ci.tsx'
import { Cli } from './docs/Cli.tsx'
import { Events } from './docs/Events.tsx'
import { Ports } from './docs/Ports.tsx'
import { Quickstart } from './docs/Quickstart.tsx'
import { Servers } from './docs/Servers.tsx'
import { Terms } from './Terms.tsx'

/** Stands for the site's own address, which the build doesn't know. */
export const ORIGIN = 'https://origin.invalid'

/** The pages that are only text: the build renders them into files, so that the Worker needn't carry them. */
const TEXTS = {
  docs: <Quickstart origin={ORIGIN} hasDoor={false} />,
  'docs-with-door': <Quickstart origin={ORIGIN} hasDoor />,
  'docs-events': <Events />,
  'docs-cli': <Cli origin={ORIGIN} hasDoor={false} />,
  'docs-cli-with-door': <Cli origin={ORIGIN} hasDoor />,
  'docs-ci': <Ci origin={ORIGIN} />,
  'docs-billing': <Billing />,
  'docs-images': <Servers />,
  'docs-ports': <Ports />,
  terms: <Terms hasFiles />,
  'terms-without-files': <Terms hasFiles={false} />,
} satisfies Record<string, ReactNode>

export type TextName = keyof typeof TEXTS

/** For the build. */
export function renderTexts(): [name: string, html: string][] {
  return Object.entries(TEXTS).map(([name, text]) => [name, renderToString(text)])
}
