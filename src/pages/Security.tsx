import { CLOSED_DAYS, TRACE_DAYS } from '../domain/retention.ts'
import { Time } from '../ui/Time.tsx'

export type SecurityPageProps = {
  /** A mailto: or https address. */
  contact: string
  /** YYYY-MM-DD; null: the operators didn't say. */
  restoreRehearsed: string | null
  hasPayments: boolean
  /** Who keeps customers' files; null: there are none. */
  filesAt: 'Cloudflare' | 'Amazon Web Services' | 'another provider' | null
}

/** What we do to keep accounts and data safe: only what the code does, or an operator has set. */
export function Security({ contact, restoreRehearsed, hasPayments, filesAt }: SecurityPageProps) {
  const keepsFiles = (provider: string) => (filesAt === provider ? ' It also keeps customers’ files.' : '')
  return (
    <article className="page prose">
      <h1>Security</h1>
      <h2 id="report">Report a security hole</h2>
      <p>
        {contact.startsWith('mailto:') ? (
          <>
            Write to <a href={contact}>{contact.slice('mailto:'.length)}</a>.
          </>
        ) : (
          <>
            Report it at <a href={contact}>{contact.replace(/^https?:[/][/]/, '')}</a>.
          </>
        )}{' '}
        Say what you found, how to repeat it, and what an attacker could do with it. Use your own accounts and servers,
        look at no one else’s data, and don’t flood us with requests. For programs, there’s{' '}
        <a href="/.well-known/security.txt">security.txt</a>.
      </p>
      <h2 id="accounts">Your account</h2>
      <ul>
        <li>
          You can add a second factor: a passkey or an authenticator app, and recovery codes. We then ask for it when
          you sign in, choose a new password, create API tokens, change secrets or webhooks, and close your account. A
          passkey alone also signs you in.
        </li>
        <li>
          We email you about sign-ins from a new browser, about each new API token, and about each change of your
          password, second factor, secrets, and webhooks. Your Activity page lists what happened to your account for{' '}
          {TRACE_DAYS} days.
        </li>
        <li>
          Our operators need a second factor. An audit log records what they do in the console, and why. Your Activity
          page shows what concerns your account.
        </li>
      </ul>
      <h2 id="encryption">Encryption</h2>
      <ul>
        <li>We tell browsers to reach this site over HTTPS only.</li>
        <li>
          We store your password as a scrypt hash, made with a key that isn’t in the database, API tokens and recovery
          codes as hashes, and only a passkey’s public key.
        </li>
        <li>
          Our database stores secrets, registry logins, webhook secrets, and your authenticator app’s key encrypted with
          AES-256-GCM. The encryption key isn’t in it.
        </li>
        <li>Your server’s disk is encrypted. When the server stops, we delete it, and no other customer gets it.</li>
      </ul>
      <h2 id="retention">How long we keep data</h2>
      <p>
        <a href="/privacy#data">Privacy</a> lists what we store and how long. {CLOSED_DAYS} days after you close your
        account, we delete your name, email address, password, devices, and API tokens. Bills stay as long as the law
        requires.
      </p>
      <h2 id="processors">Who processes data for us</h2>
      <ul>
        <li>Amazon Web Services runs the servers.{keepsFiles('Amazon Web Services')}</li>
        <li>Cloudflare runs this site, carries its traffic, and delivers our emails.{keepsFiles('Cloudflare')}</li>
        <li>Turso hosts our database.</li>
        {hasPayments ? <li>Stripe takes payments. Card numbers go to Stripe only.</li> : null}
        {filesAt === 'another provider' ? <li>A storage provider keeps customers’ files.</li> : null}
      </ul>
      <h2 id="backups">Backups</h2>
      <p>
        Turso keeps our database’s history, so we can restore it to an earlier moment.{' '}
        {filesAt ? 'This doesn’t cover your files: keep copies of what you can’t lose. ' : ''}
        {restoreRehearsed ? (
          <>
            We last rehearsed a restore on <Time at={restoreRehearsed} />.
          </>
        ) : (
          'Our automated tests rehearse a restore.'
        )}
      </p>
    </article>
  )
}
