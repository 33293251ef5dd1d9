type MeterProps = {
  label: string
  value: number
  max: number
  /** The figures in words, e.g. "3.2 of 5 hours". */
  text: string
}

/** How much of an allowance is used. Past the limit the bar is full and amber. */
export function Meter({ label, value, max, text }: MeterProps) {
  return (
    <div className={value > max ? 'meter meter-over' : 'meter'}>
      <div>
        <span>{label}</span>
        <span className="mono">{text}</span>
      </div>
      <progress aria-label={label} aria-valuetext={text} value={Math.min(value, max)} max={max || 1} />
    </div>
  )
}
