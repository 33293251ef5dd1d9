import { DAY_MS, toIso } from '../../../domain/instant.ts'
import type { SecurityPageProps } from '../../../pages/Security.tsx'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import type { Config } from '../../settings/settings.ts'

const DESCRIPTION = 'How we protect accounts and data, who processes data for us, and how to report a security hole.'
/** RFC 9116 wants less than a year. We answer with a later day each day, so it never lapses. */
const GOOD_FOR_DAYS = 90

export const security = [
  route('GET /security', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(async (c) => {
    const { Security } = await import('../../../pages/Security.tsx')
    return renderPage(
      c,
      { title: 'Security', description: DESCRIPTION, assets: 'text', same: true },
      <Security {...factsOf(c.var.ctx.config)} />,
    )
  }),
  // https://www.rfc-editor.org/rfc/rfc9116
  route('GET /.well-known/security.txt', { access: 'public' }).answer((c) => {
    const { config, now } = c.var.ctx
    const today = now() - (now() % DAY_MS)
    const [origin] = config.origins
    const lines = [
      `Contact: ${config.securityContact}`,
      `Expires: ${toIso(today + GOOD_FOR_DAYS * DAY_MS)}`,
      'Preferred-Languages: en',
      `Canonical: ${origin}/.well-known/security.txt`,
      `Policy: ${origin}/security#report`,
      '',
    ]
    return c.text(lines.join('\n'), 200, { 'Cache-Control': 'public, max-age=86400' })
  }),
]

function factsOf({ securityContact, restoreRehearsed, plansForSale, files }: Config): SecurityPageProps {
  return {
    contact: securityContact,
    restoreRehearsed,
    hasPayments: plansForSale,
    filesAt: files && providerOf(new URL(files.endpoint).hostname),
  }
}

function providerOf(host: string) {
  if (host.endsWith('.r2.cloudflarestorage.com')) return 'Cloudflare'
  return host.endsWith('.amazonaws.com') ? 'Amazon Web Services' : 'another provider'
}
