/** Something to copy now, which no page shows again. A script adds a button. */
export function Secret({ children }: { children: string }) {
  return (
    <div className="copyable">
      <code className="secret">{children}</code>
    </div>
  )
}
