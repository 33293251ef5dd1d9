export function General() {
  return (
    <>
      <h2 id="account">2. Your account</h2>
      <ol>
        <li>You give a name and an email address that is yours, and confirm it. Keep your password to yourself.</li>
        <li>
          You answer for what is done with your account. If you believe that someone else uses it, change the password
          and tell us.
        </li>
        <li>An account belongs to one person or one organization and is not passed on without our consent.</li>
      </ol>
      <h2 id="use">3. Use of the servers</h2>
      <ol>
        <li>The servers are for simulation and for the work around it: development, training, test and evaluation.</li>
        <li>Not allowed are attacks on other systems, mining of currencies, and anything that the law forbids.</li>
        <li>
          Servers are given out as long as there are some. A place in the fleet is yours while your server runs, and not
          before or after.
        </li>
        <li>
          A result of simulation is no proof that a vehicle is safe. Whoever puts a vehicle into the world answers for
          it.
        </li>
      </ol>
      <h2 id="data">4. Your data</h2>
      <ol>
        <li>What you bring to a server and what you make on it is yours.</li>
        <li>
          When a server stops, its disk is deleted. It is never given to another customer, and cannot be restored.
        </li>
        <li>We keep what the service needs: your name, email, sessions and billing records. We do not sell it.</li>
        <li>
          We delete the record of a device 90 days after its sign-in ends. Emails we sent you and messages you sent us
          are deleted after 90 days.
        </li>
        <li>Payment details are held by our payment provider, not by us.</li>
      </ol>
      <h2 id="closing">5. Closing an account</h2>
      <ol>
        <li>
          You can close your account at any time, under Settings, or <a href="/contact_sales">write to us</a>. A running
          server is stopped, a plan ends with its cycle, and a last invoice is issued for what was used.
        </li>
        <li>
          30 days later we delete your name, your address, your password and the list of your devices. Billing records
          stay, for as long as the law requires us to keep them.
        </li>
        <li>We may close an account that breaks these terms. Where it can be repaired, we tell you first.</li>
      </ol>
      <h2 id="liability">6. Availability and liability</h2>
      <ol>
        <li>We keep the service running with care, but do not promise that it is never interrupted.</li>
        <li>Time in which a server did not work through our fault is not billed; tell us within 30 days.</li>
        <li>As far as the law allows, our liability in a cycle is limited to what you paid for it.</li>
      </ol>
      <h2 id="changes">7. Changes</h2>
      <ol>
        <li>When these terms change we tell you by email at least 30 days before. Until then you may cancel.</li>
      </ol>
    </>
  )
}
