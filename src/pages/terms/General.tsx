import { FILES_KEPT_DAYS } from '../../domain/money/plan-files.ts'
import { CLOSED_DAYS, TRACE_DAYS } from '../../domain/retention.ts'

export function General({ hasFiles }: { hasFiles: boolean }) {
  return (
    <>
      <h2 id="account">2. Your account</h2>
      <ol>
        <li>
          You give us a name and an email address of your own, and confirm the address. Keep your password to yourself.
        </li>
        <li>
          You are responsible for activity on your account. If you believe someone else is using it, change your
          password and tell us.
        </li>
        <li>
          An account belongs to one person or one organization. You may not transfer it to anyone without our consent.
        </li>
      </ol>
      <h2 id="use">3. Use of the servers</h2>
      <ol>
        <li>Use the servers for simulation and the work around it: development, training, testing, and evaluation.</li>
        <li>You may not attack other systems, mine cryptocurrency, or do anything illegal.</li>
        <li>Servers are subject to availability. A place in the fleet is yours only while your server runs.</li>
        <li>
          A simulation result does not prove that a vehicle is safe. You are responsible for any vehicle you put into
          operation.
        </li>
      </ol>
      <h2 id="data">4. Your data</h2>
      <ol>
        <li>Whatever you bring to a server or create on it is yours.</li>
        <li>
          When a server stops, we delete its disk. We never give it to another customer, and we cannot restore it.
        </li>
        {hasFiles ? (
          <>
            <li>
              We keep your files while you have a paid plan or a trial. When it ends, or while it is unpaid, you can
              read them for {FILES_KEPT_DAYS} days. We email you {FILES_KEPT_DAYS}, 7, and 1 days before we delete them.
              When you close your account, we delete them at once.
            </li>
            <li>
              A plan includes the amount of files that <a href="/pricing">Pricing</a> names. Beyond it, we refuse
              uploads. What your programs or servers write beyond it anyway, we delete after 7 days and two emails, the
              newest files first. The same goes for what a smaller plan no longer includes; we also email you a week
              before it begins.
            </li>
          </>
        ) : null}
        <li>
          We keep what the service needs: your name, email, sessions, and billing records. We do not sell it.{' '}
          <a href="/privacy">Privacy</a> lists everything.
        </li>
        <li>
          We delete the record of a device or an API token {TRACE_DAYS} days after it ends. We delete emails we sent you
          and messages you sent us after {TRACE_DAYS} days.
        </li>
        <li>Our payment provider holds your payment details; we do not.</li>
      </ol>
      <h2 id="closing">5. Closing an account</h2>
      <ol>
        <li>
          You can close your account at any time under Settings, or <a href="/help">contact us</a>. We stop your running
          server, your plan ends without a refund, and we issue a final invoice for what you used. We no longer charge
          your card: we email you a link for every invoice that is not paid yet.
        </li>
        <li>
          {CLOSED_DAYS} days later we delete your name, your email address, your password, and the lists of your devices
          and API tokens. We keep billing records for as long as the law requires, and a code that tells us that your
          mailbox had its free trial.
        </li>
        <li>
          If you close an account and leave a bill unpaid, a new account with the same mailbox is suspended until you
          pay it.
        </li>
        <li>We may close an account that breaks these terms. If the breach can be fixed, we'll warn you first.</li>
      </ol>
      <h2 id="liability">6. Availability and liability</h2>
      <ol>
        <li>We run the service with care, but we do not promise that it is never interrupted.</li>
        <li>If a server did not work through our fault, we do not bill you for that time. Tell us within 30 days.</li>
        <li>As far as the law allows, our liability for a billing month is limited to what you paid for it.</li>
      </ol>
      <h2 id="changes">7. Changes</h2>
      <ol>
        <li>We email you at least 30 days before these terms change. You may cancel at any time before they do.</li>
      </ol>
    </>
  )
}
