/** Something to copy now, because no page shows it again. A script adds a button. */
export function Secret({ children }: { children: string }) {
  return (
    <div className="copyable">
      <code className="secret">{children}</code>
    </div>
  )
}
