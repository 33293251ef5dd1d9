/** A self-contained page: no external files. */
export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(title)}</title><style>${STYLE}</style><main>${body}</main>
<footer>A local stand-in for Stripe. Nothing here is real.</footer></html>`
}

export function text(value: string): string {
  return value.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#dfe3ea, #2a3342); --accent: #635bff }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; gap: 16px; padding: 16px;
  font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f6f8fb, #0d1219) }
main { width: min(420px, calc(100vw - 96px)); padding: 32px; border: 1px solid var(--line); border-radius: 12px;
  background: light-dark(#fff, #141b26) }
h1 { margin: 0; font-size: 28px } h2 { margin: 24px 0 8px; font-size: 18px } a { color: inherit } .eyebrow { margin: 0; opacity: .75 }
.amount { margin: 8px 0 24px; font-size: 36px; font-weight: 650; font-variant-numeric: tabular-nums }
.amount span { font-size: 15px; font-weight: 400 }
dl { display: grid; grid-template-columns: 90px 1fr; gap: 4px; margin: 0 0 24px } dt { opacity: .75 } dd { margin: 0 }
table { width: 100%; border-collapse: collapse; margin-bottom: 24px } td, th { padding: 8px 0; text-align: left; font-weight: 400 }
.number { text-align: right; font-variant-numeric: tabular-nums } .total th { border-top: 1px solid var(--line); font-weight: 650 }
label { display: block } summary { margin-bottom: 12px; cursor: pointer }
select, input:not([type=hidden]) { width: 100%; box-sizing: border-box; margin: 4px 0 16px; padding: 10px; font: inherit }
button, .button { display: block; width: 100%; box-sizing: border-box; padding: 12px; border: 0; border-radius: 8px;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: #fff; background: var(--accent); cursor: pointer }
.quiet { margin-top: 12px; background: none; border: 1px solid var(--line); color: inherit }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.badge { padding: 2px 10px; border-radius: 99px; border: 1px solid var(--line) } .badge.paid { color: light-dark(#0a6b3d, #5fd39a) }
.badge.overdue { color: light-dark(#b3261e, #ff8a80) } .small, footer { font-size: 13px; opacity: .75; text-align: center }
`
