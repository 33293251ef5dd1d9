import { FEWEST_WAITS } from '../../domain/estimate.ts'
import { TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { Code, Doc, Heading } from './parts.tsx'

const CLI_PATH = '/cli/proving-ground.mjs'
/** The command line as an npm package, with the typed client. */
export const PACKAGE_PATH = '/cli/proving-ground.tgz'
/** A function also works in scripts, and completes in zsh; an alias doesn't. */
export const getCli = (origin: string) => `curl -fsSo ~/proving-ground.mjs ${origin}${CLI_PATH}
proving-ground() { node ~/proving-ground.mjs "$@"; }`
const ACTION_FILES = ['action.yml', 'keep.mts', 'rclone.mts', 'run.mts', 'site.mts', 'start.mts', 'stop.mts']

export const getAction = (origin: string) => `curl -fsS --create-dirs --output-dir .github/actions/proving-ground \\
  -O "${origin}/cli/action/{${ACTION_FILES.join()}}"`

/** @param origin the site's own, so that every example works as written */
/** A line of the workflow below. */
const DOOR_ENV = `
          HEADER: \${{ steps.server.outputs.header }}`

const getPython = (hasDoor: boolean) => `import os, time
import requests

site, token = os.environ["PROVING_GROUND_URL"], os.environ["PROVING_GROUND_TOKEN"]
api = requests.Session()
api.headers["Authorization"] = f"Bearer {token}"

def call(method, path, body=None, **headers):
    answer = api.request(method, f"{site}/api/v1/{path}", json=body, headers=headers, timeout=30)
    if not answer.ok:
        raise SystemExit(answer.json()["error"])
    return answer.json()

wishes = {"environment": "Mountains", "vehicle": "ugv", "name": "first flight", "stop_after": 3600}
key = {"Idempotency-Key": f"flight-{time.time():.0f}"}
server = call("POST", "aws/auto_cloud_start_request", wishes, **key)["server"]
try:
    while not server["billed_from"]:
        if not (server["pending"] or server["active"]):
            raise SystemExit(server["error_message"])
        time.sleep(2)
        server = call("GET", f"servers/{server['id']}")["server"]
    page = ${hasDoor ? 'api.get(server["door_url"], timeout=30)' : `requests.get(f"http://{server['ip_address']}:5173", timeout=30)`}
    print(page.status_code, len(page.content), "bytes")
finally:
    if server["pending"] or server["active"]:
        call("POST", "aws/stop_server", {"server_id": server["server_id"], "session_id": server["id"]})`

/** Where servers have private addresses. */
export const DoorHeader = () => (
  <p>
    The address is the server's own and private: a program sends its token in this header. The server never sees it.{' '}
    <a href="/docs/images#private">Who gets in</a> says more.
  </p>
)

export function Quickstart({ origin, hasDoor }: { origin: string; hasDoor: boolean }) {
  return (
    <Doc
      path="/docs"
      title="Quickstart"
      lead="Your first simulation server in five minutes: in the browser, with curl, on the command line, or in your CI."
    >
      <Heading id="browser">In the browser</Heading>
      <ol>
        <li>
          <a href="/sign_up">Sign up</a> and confirm your email address. You get {TRIAL_MINUTES} minutes of server time,
          free. We don't ask for a card.
        </li>
        <li>
          On your dashboard, choose where to fly or drive and with what, such as Mountains with a UGV. Press{' '}
          <strong>Start Server</strong> and watch it boot. Startup is free. The text beside the button says how long it
          usually takes, from starts like yours in the last 30 days. With fewer than {FEWEST_WAITS} of them, we don't
          know yet, and say so.
        </li>
        <li>
          Press <strong>Open simulator</strong>. The page comes from your server, on port 5173.
        </li>
        <li>
          Press <strong>Stop</strong>. From that moment, you pay nothing. What is in <code>/data</code> stays in your{' '}
          <a href="/files">files</a>; the rest of the server's disk is erased.
        </li>
      </ol>

      <Heading id="token">A token for your programs</Heading>
      <p>
        Programs use an API token instead of your password. Create one under Settings,{' '}
        <a href="/api_tokens">API tokens</a>, with the access <strong>Operate</strong>, and put it in your environment:
      </p>
      <Code>{`export PROVING_GROUND_URL=${origin}
export PROVING_GROUND_TOKEN=pg_…`}</Code>

      <Heading id="curl">With curl</Heading>
      <p>
        Start a server in Mountains with a UGV. It stops after an hour, whatever happens to your script.
        <code>GET /api/v1/environments</code> lists what else you can start. The key makes the call safe to repeat: the
        same key never starts a second server. These examples also use <code>jq</code>.
      </p>
      <Code run="curl">{`api() { curl -sS --fail-with-body -H "Authorization: Bearer $PROVING_GROUND_TOKEN" "$@"; }

api -X POST "$PROVING_GROUND_URL/api/v1/aws/auto_cloud_start_request" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: first-$(date +%s)" \\
  -d '{"environment": "Mountains", "vehicle": "ugv", "name": "first drive", "stop_after": 3600}' > started.json`}</Code>
      <p>
        Wait until it answers. <code>billed_from</code> is set from then on. A start that failed is neither{' '}
        <code>pending</code> nor <code>active</code>.
      </p>
      <Code run="curl">{`while true; do
  api "$PROVING_GROUND_URL/api/v1/servers/get_servers" | jq '.servers[0]' > server.json
  jq -e '.billed_from' server.json > /dev/null && break
  jq -e '.pending or .active' server.json > /dev/null || { jq -r '.error_message' server.json; break; }
  sleep 2
done`}</Code>
      <p>Once it runs, use it. Its page, and everything else on it, is on port 5173:</p>
      <Code run="curl">
        {hasDoor
          ? `api "$(jq -r '.door_url' server.json)" > page.html`
          : `curl -fsS "http://$(jq -r '.ip_address' server.json):5173" > page.html`}
      </Code>
      {hasDoor && <DoorHeader />}
      <p>Stop it:</p>
      <Code run="curl">{`api -X POST "$PROVING_GROUND_URL/api/v1/aws/stop_server" \\
  -H "Content-Type: application/json" \\
  -d "$(jq '{server_id, session_id: .id}' server.json)"`}</Code>
      <Heading id="python">In Python</Heading>
      <p>
        The same, with nothing but <code>requests</code>. It stops the server even if your code fails.
      </p>
      <Code run="python">{getPython(hasDoor)}</Code>
      <p>
        <a href="/docs/api">The API</a> lists every call. To hear about changes without polling, see{' '}
        <a href="/docs/events">Events</a>.
      </p>

      <Heading id="cli">On the command line</Heading>
      <p>
        One file that needs only Node 20 or newer. <a href="/docs/cli">See all commands</a>
      </p>
      <Code run="get">{getCli(origin)}</Code>
      <p>
        Sign in: it shows a code, which you compare and approve in your browser. With <code>PROVING_GROUND_TOKEN</code>{' '}
        set, you can skip this.
      </p>
      <Code>{`proving-ground login --base-url ${origin}`}</Code>
      <Code run="cli">{`proving-ground start --wait --environment Mountains --vehicle ugv --name "first drive" --stop-after 1h
proving-ground status
proving-ground stop`}</Code>

      <Heading id="github">In GitHub Actions</Heading>
      <p>Add our action to your repository and commit it, so that it changes only when you say so.</p>
      <Code run="action">{getAction(origin)}</Code>
      <p>
        Save your token as the secret <code>PROVING_GROUND_TOKEN</code>. When the job ends, the action stops the server,
        even if a step failed or you canceled the job. If the runner dies as well, <code>stop-after</code> stops it. An
        account runs one server at a time, so make jobs wait for each other; <code>wait-in-line</code> waits for other
        people's as well. What the job writes into the folder <code>keep</code> goes to <a href="/files">your files</a>{' '}
        at its end, below <code>ci/</code>.
      </p>
      <Code run="workflow">{`name: Simulate
on: push
concurrency: proving-ground
jobs:
  simulate:
    runs-on: ubuntu-latest
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
      - id: server
        uses: ./.github/actions/proving-ground
        with:
          url: ${origin}
          token: \${{ secrets.PROVING_GROUND_TOKEN }}
          environment: Mountains
          vehicle: ugv
          stop-after: 45m
          wait-in-line: true
          keep: results
      - name: Fly the mission
        env:
          ADDRESS: \${{ steps.server.outputs.address }}${hasDoor ? DOOR_ENV : ''}
        run: curl -fsS ${hasDoor ? '-H "$HEADER" ' : ''}--create-dirs -o results/page.html "$ADDRESS"`}</Code>
      <p>
        To run an image of yours to its end, with its exit code as the result, see{' '}
        <a href="/docs/ci">Run a scenario in CI</a>. Any other CI that runs a shell can do the same with{' '}
        <a href="/docs/cli#scripts">the command line</a>.
      </p>
    </Doc>
  )
}
