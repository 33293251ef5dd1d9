import { pageOfFolder, shownName, trailOf } from './entries.ts'

/** The folders on the way here. */
export function Crumbs({ path, onOpen }: { path: string; onOpen: ((path: string) => void) | null }) {
  const trail = [{ name: 'Files', path: '' }, ...trailOf(path)]
  return (
    <nav className="crumbs" aria-label="Folders">
      <ol>
        {trail.map((folder, i) => (
          <li key={folder.path}>
            {i === trail.length - 1 ? (
              <span aria-current="page">
                <bdi>{shownName(folder.name)}</bdi>
              </span>
            ) : (
              <a
                href={pageOfFolder(folder.path)}
                onClick={(event) => {
                  if (!onOpen || event.metaKey || event.ctrlKey || event.shiftKey) return
                  event.preventDefault()
                  onOpen(folder.path)
                }}
              >
                <bdi>{shownName(folder.name)}</bdi>
              </a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
