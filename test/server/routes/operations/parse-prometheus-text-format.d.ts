declare module 'parse-prometheus-text-format' {
  type Sample = { value: string; labels?: Record<string, string> }
  export default function parse(text: string): { name: string; help: string; type: string; metrics: Sample[] }[]
}
