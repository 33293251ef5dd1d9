/** A QR code, drawn dark on light in both themes, as cameras expect. @param rows whether each module is dark */
export function QrCode({ rows, label }: { rows: boolean[][]; label: string }) {
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      width={4 * rows.length}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
