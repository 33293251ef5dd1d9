/** What the server's /data answers: its user's files. */
type Entry = { name: string; size: number | null }
type Folder = { mayWrite: boolean; entries: Entry[] }

type Page = {
  say: (sentence: string) => void
  /** What to save, and under which name. */
  record: () => { name: string; text: string }
}

const RECORDINGS = 'recordings/'

const find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const urlOf = (path: string) => `/data/${path.split('/').map(encodeURIComponent).join('/')}`

/** Lets people browse /data, and save recordings there. */
export function openData({ say, record }: Page): void {
  const dialog = find<HTMLDialogElement>('data')
  let shown = ''

  async function open(path: string): Promise<void> {
    shown = path
    const folder = await list(path)
    // They may have opened another one in the meantime.
    if (shown !== path) return
    find('data-title').replaceChildren('/data/', ...path.split(/(?<=\/)/).map(isolated))
    find('data-note').textContent = noteOf(folder)
    const up = path === '' ? [] : [folderButton('Up', () => open(path.replace(/[^/]*\/$/, '')))]
    const rows = typeof folder === 'string' ? [] : folder.entries.map((entry) => entryOf(path, entry))
    find('data-list').replaceChildren(...[...up, ...rows].map(inRow))
  }

  function entryOf(path: string, { name, size }: Entry): HTMLElement {
    if (size === null) return folderButton(name, () => open(path + name))
    const link = document.createElement('a')
    link.href = urlOf(path + name)
    link.download = name
    link.append(isolated(name))
    const bytes = document.createElement('span')
    bytes.textContent = ` ${size.toLocaleString('en-US')} bytes`
    const both = document.createElement('span')
    both.append(link, bytes)
    return both
  }

  async function save(): Promise<void> {
    const { name, text } = record()
    const answer = await fetch(urlOf(RECORDINGS + name), { method: 'PUT', body: text }).catch(() => null)
    if (answer?.ok) say(`Saved /data/${RECORDINGS}${name}.`)
    else say(`Not saved. ${(await answer?.text()) ?? "The server doesn't answer."}`)
    if (dialog.open) await open(shown)
  }

  find('save').addEventListener('click', () => void save())
  find('files').addEventListener('click', () => {
    dialog.showModal()
    void open('')
  })
  find('data-close').addEventListener('click', () => dialog.close())
}

/** @returns why there is none, as a sentence */
async function list(path: string): Promise<Folder | string> {
  try {
    const answer = await fetch(urlOf(path))
    return answer.ok ? ((await answer.json()) as Folder) : await answer.text()
  } catch {
    return "The server doesn't answer."
  }
}

function noteOf(folder: Folder | string): string {
  if (typeof folder === 'string') return folder
  if (!folder.mayWrite) return 'Your files. This server can only read them.'
  return folder.entries.length ? 'Your files. They stay when this server stops.' : 'Nothing here yet.'
}

function folderButton(name: string, onOpen: () => Promise<void>): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'btn-text'
  button.append(isolated(name))
  button.addEventListener('click', () => void onOpen())
  return button
}

/** A name in its own direction, with its slash after it. */
function isolated(name: string): Node {
  const slash = name.endsWith('/') ? '/' : ''
  const text = document.createElement('bdi')
  text.textContent = slash ? name.slice(0, -1) : name
  const both = document.createDocumentFragment()
  both.append(text, slash)
  return both
}

function inRow(content: HTMLElement): HTMLElement {
  const row = document.createElement('li')
  row.append(content)
  return row
}
