let format: Intl.NumberFormat | undefined

export function dollars(amount: number): string {
  format ??= new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
  return format.format(amount)
}

export function seconds(n: number): string {
  return `${n.toLocaleString('en-US')} s`
}
