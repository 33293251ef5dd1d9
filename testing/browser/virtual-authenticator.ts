import type { Page } from 'playwright-core'

export type Device = { hasResidentKey?: boolean; isUserVerified?: boolean }
export type Held = Awaited<ReturnType<typeof withDevice>>

/** Chromium's own authenticator, in software: it speaks CTAP 2 with the browser's real WebAuthn. */
export async function withDevice(page: Page, { hasResidentKey = true, isUserVerified = true }: Device = {}) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return { cdp, authenticatorId }
}
