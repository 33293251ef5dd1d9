import { Code, Doc, Heading, Rows } from './parts.tsx'
import { getAction } from './Quickstart.tsx'

const code = (text: string) => <code key={text}>{text}</code>

export function Ci({ origin }: { origin: string }) {
  return (
    <Doc
      path="/docs/ci"
      title="Run a scenario in CI"
      lead="From an empty repository to a red and a green check: your program runs on a GPU server, and its exit code is the result."
    >
      <Heading id="image">1. An image that tests itself</Heading>
      <p>
        Any container image that runs a command and exits. Code 0 means that it passed. This one reads its scenario from
        a variable, prints what it does, and leaves a report in <code>/data</code>.
      </p>
      <Code>{`# Dockerfile
FROM python:3.13-slim
COPY scenario.py /scenario.py
CMD ["python", "/scenario.py"]`}</Code>
      <Code>{`# scenario.py
import os, sys

scenario = os.environ["SCENARIO"]
os.makedirs("/data/out", exist_ok=True)
passed = scenario != "storm"
with open(f"/data/out/{scenario}.txt", "w") as report:
    report.write("passed" if passed else "failed")
print(f"{scenario}: {'passed' if passed else 'failed'}")
sys.exit(0 if passed else 3)`}</Code>
      <p>
        Push it to a public registry, and add it under <a href="/environments">Build Your Own</a> as{' '}
        <code>scenarios</code>. Running your own image needs Premium or Enterprise.
      </p>
      <Code>{`docker build -t ghcr.io/your-name/scenarios:1 . && docker push ghcr.io/your-name/scenarios:1`}</Code>

      <Heading id="token">2. A token</Heading>
      <p>
        Create one that may operate under <a href="/api_tokens">API Tokens</a>, and save it in your repository's
        settings as the secret <code>PROVING_GROUND_TOKEN</code>.
      </p>

      <Heading id="action">3. The action</Heading>
      <p>Add it to your repository and commit it, so that it changes only when you say so.</p>
      <Code run="action">{getAction(origin)}</Code>

      <Heading id="workflow">4. The workflow</Heading>
      <p>
        As <code>.github/workflows/scenarios.yml</code>. An account runs one server at a time, so the jobs of a matrix
        wait for each other, up to <code>wait</code>.
      </p>
      <Code run="workflow">{`name: Scenarios
on: push
jobs:
  scenario:
    runs-on: ubuntu-latest
    timeout-minutes: 120
    strategy:
      fail-fast: false
      matrix:
        scenario: [calm, fog, storm]
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
      - id: scenario
        uses: ./.github/actions/proving-ground
        with:
          url: ${origin}
          token: \${{ secrets.PROVING_GROUND_TOKEN }}
          environment: scenarios
          parameters: SCENARIO=\${{ matrix.scenario }}
          run: default
          keep: out
          stop-after: 30m
      - if: always() && steps.scenario.outputs.kept
        uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2
        with:
          name: \${{ matrix.scenario }}
          path: \${{ steps.scenario.outputs.kept }}`}</Code>

      <Heading id="result">5. The result</Heading>
      <p>
        Push. <code>calm</code> and <code>fog</code> get a green check, <code>storm</code> a red one with exit code 3.
        Each job shows the program's log, a summary with its cost and a link to the server, and the report as an
        artifact. You pay from the container's start to the program's exit.
      </p>
      <Rows
        caption="How a step ends"
        head={['Exit code', 'Why']}
        rows={[
          ["The program's", 'It ended by itself'],
          [code('124'), 'stop-after came first, or your budget or trial ended'],
          [code('125'), "It didn't run, or what it left couldn't be brought back: the step says why"],
          [code('130'), 'Someone canceled the job, and the server was stopped'],
          [code('143'), 'Someone stopped the server'],
        ]}
      />
      <p>
        <code>run: default</code> runs the image's own command. Write words in its place to run something else, such as{' '}
        <code>run: pytest -q</code>; on several lines, each line is one word. <code>keep</code> brings the folder of
        that name from <code>/data</code>, also if the program failed.
      </p>

      <Heading id="elsewhere">Anywhere else</Heading>
      <p>
        Any CI that runs a shell can do the same with <a href="/docs/cli#install">the command line</a>:
      </p>
      <Code>{`proving-ground run --environment scenarios --set SCENARIO=fog --keep out --stop-after 30m`}</Code>
    </Doc>
  )
}
