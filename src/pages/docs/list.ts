/** The documentation's pages, in reading order: the Markdown file, and what navigation and search engines say. */
export const DOCS = [
  {
    path: '/docs',
    file: 'quickstart',
    label: 'Quickstart',
    title: 'Quickstart',
    description:
      'Your first GPU simulation server in five minutes: in the browser, with curl, on the command line, or in your CI.',
  },
  {
    path: '/docs/api',
    file: 'api',
    label: 'API',
    title: 'API',
    description:
      'Every call of the Proving Ground API, with curl and answers: start, follow, and stop simulation servers from your code.',
  },
  {
    path: '/docs/events',
    file: 'events',
    label: 'Events',
    title: 'Events',
    description:
      'Hear about every change to your servers at once: over the cable while your program runs, or by webhook.',
  },
  {
    path: '/docs/cli',
    file: 'cli',
    label: 'Command line',
    title: 'Command line',
    description:
      'Start, follow, and stop simulation servers from a terminal or a script: commands, exit codes, settings.',
  },
  {
    path: '/docs/ci',
    file: 'ci',
    label: 'CI',
    title: 'Run a scenario in CI',
    description:
      'Your program on a GPU server in GitHub Actions: its exit code is the check, its log and files are in the job.',
  },
  {
    path: '/docs/billing',
    file: 'billing',
    label: 'Billing',
    title: 'Billing',
    description: 'When the meter runs, what a month costs, and how to keep costs under control, with worked examples.',
  },
  {
    path: '/docs/images',
    file: 'servers',
    label: 'Servers',
    title: 'Servers',
    description:
      'What runs on a simulation server: the machine, its GPUs, the simulator, port 5173, and what happens at the end.',
  },
  {
    path: '/docs/ports',
    file: 'ports',
    label: 'Ports',
    title: 'Ports and pictures',
    description:
      'Which ports of a simulation server reach you, which pictures, and what a container image needs for it.',
  },
] as const

export type Doc = (typeof DOCS)[number]
