const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

export function dollars(amount: number): string {
  return format.format(amount)
}

const count = new Intl.NumberFormat('en-US')

export function seconds(n: number): string {
  return `${count.format(n)} s`
}
