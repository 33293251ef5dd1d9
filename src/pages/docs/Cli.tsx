import { DEFAULT_TOKEN_DAYS } from '../../domain/api-token.ts'
import { Code, Doc, Heading, Rows } from './parts.tsx'
import { DoorHeader, getCli, PACKAGE_PATH } from './Quickstart.tsx'

const code = (text: string) => <code key={text}>{text}</code>
/** With its options as code. */
const said = (text: string) => text.split(/(--[a-z-]+)/).map((part, i) => (i % 2 ? code(part) : part))

const DOOR_SCRIPT = `trap 'proving-ground stop --all' EXIT
url=$(proving-ground start --wait --json | jq -r .server.door_url)
curl -fsS -H "Authorization: Bearer $PROVING_GROUND_TOKEN" "$url" > page.html`
const SCRIPT = `trap 'proving-ground stop --all' EXIT
address=$(proving-ground start --wait --json | jq -r .server.ip_address)
curl -fsS "http://$address:5173" > page.html`

export function Cli({ origin, hasDoor }: { origin: string; hasDoor: boolean }) {
  return (
    <Doc
      path="/docs/cli"
      title="Command line"
      lead="Start, follow, and stop your servers from a terminal or a script. One file that needs only Node 20 or newer."
    >
      <Heading id="install">Install it</Heading>
      <Code run="get">{getCli(origin)}</Code>
      <p>
        Add the second line to your <code>~/.bashrc</code> or <code>~/.zshrc</code> to keep the command. In fish, run{' '}
        <code>alias --save proving-ground='node ~/proving-ground.mjs'</code> instead.
      </p>
      <p>
        It's also a package, with <a href="/docs/api#client">a client for TypeScript</a>:
      </p>
      <Code>{`npx ${origin}${PACKAGE_PATH} help`}</Code>
      <p>
        Then sign in. It shows a code and opens a page here. Compare the code there, and approve with your password. The
        token it gets lasts {DEFAULT_TOKEN_DAYS} days. Your computer keeps it in a file that only you can read.
      </p>
      <Code>{`proving-ground login --base-url ${origin}`}</Code>

      <Heading id="first">Your first server</Heading>
      <Code run="cli">{`proving-ground environments
proving-ground start --wait --environment Mountains --vehicle ugv --stop-after 2h --name nightly
proving-ground status
proving-ground logs
proving-ground runs
proving-ground usage
proving-ground stop`}</Code>

      <Heading id="commands">Commands</Heading>
      <Rows
        caption="Commands"
        head={['Command', 'What it does']}
        rows={[
          [
            code('login'),
            said(
              "Signs in through your browser. --scope read gets a token that can't start or stop anything; --with-token reads a token from the terminal or stdin instead",
            ),
          ],
          [
            code('start'),
            said(
              'Starts a server. --wait follows it until it runs, and Ctrl-C then asks whether to stop it. --environment and --vehicle choose what it simulates; --stop-after 2h stops it after two hours; --max-gpus 1 takes a machine with one GPU; --set SCENARIO=fog gives your program a variable; --name names it',
            ),
          ],
          [
            code('run'),
            <>
              Runs a program of an image of yours to its end, and exits as it does.{' '}
              <a href="/docs/ci">In CI, or anywhere</a>
            </>,
          ],
          [
            code('line'),
            said(
              'Shows your place in line for the next free server; line leave gives it up. start --wait-in-line joins, and starts your server when it is your turn. start --code takes a place that is held back for your class or competition',
            ),
          ],
          [code('status'), said('Shows your running server: state, time, cost, address. --watch follows it')],
          [
            code('logs'),
            said(
              'Prints what your program and its machine say: of the server that runs, of your last one, or of the one you name. --follow keeps printing until it ends',
            ),
          ],
          [code('open'), "Prints your server's address and opens it in the browser"],
          [code('stop'), said('Stops your server. --all also succeeds if none runs')],
          [code('extend 1h'), 'Adds an hour to the time your server stops'],
          [
            code('end 18:00'),
            said(
              "Sets the time your server stops, in your computer's zone; also 2026-11-24T18:00, or never to remove it",
            ),
          ],
          [code('idle 30m'), 'Stops your servers when nobody has used them for that long; never turns that off'],
          [
            code('forward 41451'),
            <>
              Brings a port of your server to this computer. <a href="#forward">How</a>
            </>,
          ],
          [code('runs'), 'Lists your latest 100 runs'],
          [code('environments'), 'Lists the environments and vehicles, and whether your plan includes them'],
          [code('usage'), "Shows this month's usage and your plan"],
          [code('bills'), said('Lists your bills; --csv writes CSV')],
          [
            code('files'),
            said(
              'Lists, uploads, downloads, and deletes your files: ls, put, get, and rm (of a folder: rm runs/). sync copies what is new or differs, either way, and with --delete removes the rest. config prints settings for rclone and the AWS command line; credentials prints S3 credentials for 15 minutes or more, with --read for an hour and only to read',
            ),
          ],
          [
            code('token'),
            said('Shows the token in use: its account, what it may do, and when it expires. --revoke ends it'),
          ],
          [code('logout'), 'Signs out on this computer'],
          [
            code('completion bash'),
            <>
              Prints a script that completes commands and options; also for zsh and fish.{' '}
              <a href="#completion">Load it</a>
            </>,
          ],
        ]}
      />
      <p>
        <code>--json</code> works with every command that prints something. <code>proving-ground help start</code> lists
        every option.
      </p>

      <Heading id="forward">Your server's ports</Heading>
      <p>
        Where this site gives servers a private address, <code>forward</code> brings their TCP ports to your computer,
        so your code connects to <code>127.0.0.1</code> and needs no token. This line leads 41451 (AirSim's RPC) to the
        same port here, and 5760 (MAVLink) to 15760:
      </p>
      <Code>proving-ground forward 41451 5760:15760</Code>
      <p>
        It runs until you press Ctrl-C or the server stops. If the network drops, open connections break off, and new
        ones work as soon as it is back. Every program on your computer can use these ports meanwhile.
      </p>

      <Heading id="files">Files</Heading>
      <p>
        To copy files, install <a href="https://rclone.org/install/">rclone</a> 1.69 or newer. The command line runs it
        with credentials that reach only your files, and renews them while it copies. What was copied is not copied
        again, so after Ctrl-C or a lost connection, run the same command.
      </p>
      <Code>{`proving-ground files put course.json maps/
proving-ground files sync ./recordings files:recordings
proving-ground files get recordings/flight.csv
proving-ground files sync files:recordings ./recordings`}</Code>
      <p>
        With <code>--delete</code>, <code>sync</code> deletes in the second folder what isn't in the first. It refuses
        if the first one is empty or isn't there.
      </p>
      <p>
        <code>proving-ground files config</code> prints settings for rclone and the AWS command line, and where each
        part belongs. Then both reach your files directly, for example to rename a folder:
      </p>
      <Code>{`rclone lsl files:
rclone moveto files:recordings files:flights`}</Code>
      <p>Any other program that speaks S3 can read your files for an hour:</p>
      <Code>{`eval "$(proving-ground files credentials --read)"
aws s3 ls "$FILES"
aws s3 cp "\${FILES}recordings/flight.csv" .`}</Code>

      <Heading id="completion">Completion</Heading>
      <p>
        Add one of these lines to your shell's configuration: <code>~/.bashrc</code>, <code>~/.zshrc</code>, or{' '}
        <code>~/.config/fish/config.fish</code>.
      </p>
      <Code>{`eval "$(proving-ground completion bash)"
eval "$(proving-ground completion zsh)"
proving-ground completion fish | source`}</Code>

      <Heading id="scripts">In scripts</Heading>
      <p>
        Set <code>PROVING_GROUND_URL</code> and <code>PROVING_GROUND_TOKEN</code> instead of signing in. Results go to
        stdout; progress and errors go to stderr. These use <code>jq</code> and <code>curl</code>.
      </p>
      <Code run="script">{hasDoor ? DOOR_SCRIPT : SCRIPT}</Code>
      {hasDoor && <DoorHeader />}
      <Rows
        caption="Exit codes"
        head={['Exit code', 'Meaning']}
        rows={[
          ['0', 'Done'],
          ['1', "Refused, failed, or couldn't reach the site; stderr says why"],
          ['2', 'Wrong usage'],
          ['3', "Not signed in, or the token isn't valid"],
          ['4', 'No server is free'],
          ['5', "The server didn't come up in time, the site didn't answer in time, or your code expired"],
          ['6', 'forward: another program uses that port of your computer'],
          ['7', 'forward: only an administrator may listen on that port of your computer'],
          ['8', "forward: that port of the server isn't open"],
          ['9', 'forward: this site gives servers no private address'],
          ['10', 'files get, put, and sync: no rclone on the PATH, or one older than 1.69'],
          ['124', "run: its end came before its program's"],
          ['125', "run: the program didn't run, or what it left couldn't be kept"],
          ['130', 'Interrupted by Ctrl-C. Without a terminal to ask on, the server keeps running'],
          ['143', 'run: somebody stopped the server'],
        ]}
      />

      <Heading id="settings">Settings</Heading>
      <Rows
        caption="Settings"
        head={['Setting', 'Meaning']}
        rows={[
          [code('--base-url'), 'The site. It must use HTTPS'],
          [code('PROVING_GROUND_URL'), 'The same; after login, the one you signed in to'],
          [code('PROVING_GROUND_TOKEN'), 'A token to use instead of the one from login'],
          [code('NO_COLOR'), 'Turns colors off. Outside a terminal, they are always off'],
        ]}
      />
    </Doc>
  )
}
