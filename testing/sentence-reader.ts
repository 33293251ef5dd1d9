import { isCallOf, isNode, type Module, type Node, nodesOf, propertiesOf } from './syntax.ts'

const COMPARES = new Set(['===', '!==', '==', '!=', '<', '>', 'in'])
const ASKS = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'lastIndexOf', 'search', 'match', 'matchAll'])
const LOOKS_UP = new Set(['has', 'get', 'includes', 'indexOf'])
/** Of a regular expression. */
const TESTS = new Set(['test', 'exec'])
const QUERIES = new Set(['eq', 'ne', 'like', 'inArray', 'is'])
/** What we name the texts that people read. */
const TEXTS = new Set(['message', 'progress', 'sentence', 'errorMessage', 'error_message'])

/** Whether people read it: more than one word, and it begins or ends as a sentence does. */
function reads(text: string): boolean {
  return /\S \S/.test(text) && (/[.!?…]['"”)]?$/.test(text) || /^[A-Z][a-z’']* [a-z]/.test(text))
}

/** `covered by your plan`: a part of a sentence. Two words may be the name of a state. */
const isPart = (text: string) => /^[a-z]+( [a-z]+){2,}$/.test(text)

/** Reads one file's expressions; a name leads to its declaration, in other files as well. */
export class Reader {
  readonly #modules: Map<string, Module>
  readonly #module: Module
  readonly #seen: Set<Node>

  constructor(modules: Map<string, Module>, module: Module, seen = new Set<Node>()) {
    this.#modules = modules
    this.#module = module
    this.#seen = seen
  }

  compares(node: Node): boolean {
    switch (node.type) {
      case 'BinaryExpression': {
        const [left, right] = [node.left as Node, node.right as Node]
        if (!COMPARES.has(node.operator as string)) return false
        if (node.operator === 'in') return this.#hasSentenceKeys(right)
        if (isNothing(left) || isNothing(right)) return false
        return [left, right].some((side) => isText(side) || this.#isSentence(side))
      }
      case 'SwitchCase':
        return isNode(node.test) && this.#isSentence(node.test)
      case 'MemberExpression':
        return node.computed === true && this.#hasSentenceKeys(node.object as Node)
      case 'TaggedTemplateExpression':
        return this.#comparesInSql(node)
      case 'CallExpression': {
        const [callee, [first, second]] = [node.callee as Node, node.arguments as Node[]]
        if (callee.type === 'Identifier')
          return QUERIES.has(callee.name as string) && second !== undefined && this.#isSentence(second)
        if (callee.type !== 'MemberExpression' || !first) return false
        const [{ name }, of] = [callee.property as { name: string }, callee.object as Node]
        if (ASKS.has(name) && (this.#isSentence(first) || this.#isSentence(of))) return true
        if (TESTS.has(name)) return this.#holdsSentences(of)
        return LOOKS_UP.has(name) && (this.#isSentence(first) || this.#holdsSentences(of))
      }
      default:
        return false
    }
  }

  #isSentence(node: Node): boolean {
    switch (node.type) {
      case 'Literal':
        return node.regex
          ? reads((node.regex as { pattern: string }).pattern.replace(/[\\^$()]/g, ''))
          : reads(String(node.value)) || isPart(String(node.value))
      case 'TemplateLiteral':
        return reads((node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('x'))
      case 'CallExpression': {
        const { body } = this.#functionOf(node.callee as Node) ?? {}
        if (!body) return false
        const { reader, node: given } = body
        if (given.type !== 'BlockStatement') return reader.#isSentence(given)
        const returned = nodesOf(given).filter(({ type }) => type === 'ReturnStatement')
        return returned.some(({ argument }) => isNode(argument) && reader.#isSentence(argument))
      }
      default:
        return this.#meant(node).some(({ reader, node: one }) => reader.#isSentence(one))
    }
  }

  /** An array, a set, or a map with sentences in it. */
  #holdsSentences(node: Node): boolean {
    if (node.type === 'Literal') return this.#isSentence(node)
    if (node.type === 'NewExpression' || isCallOf(node, 'Object', 'values'))
      return (node.arguments as Node[]).some((argument) => this.#holdsSentences(argument))
    if (node.type === 'ArrayExpression')
      return (node.elements as (Node | null)[]).some(
        (one) => one && (this.#isSentence(one) || this.#holdsSentences(one)),
      )
    if (node.type === 'ObjectExpression')
      return propertiesOf(node).some(({ value }) => isNode(value) && this.#isSentence(value))
    return this.#meant(node).some(({ reader, node: one }) => reader.#holdsSentences(one))
  }

  #hasSentenceKeys(node: Node): boolean {
    if (node.type === 'ObjectExpression')
      return propertiesOf(node).some(({ key, computed }) =>
        computed || (key as Node).type === 'Literal' ? this.#isSentence(key as Node) : false,
      )
    return this.#meant(node).some(({ reader, node: one }) => reader.#hasSentenceKeys(one))
  }

  /** `WHERE x = ${SENTENCE}` and `WHERE x = 'A sentence.'`; an assignment compares nothing. */
  #comparesInSql({ tag, quasi }: Node): boolean {
    if ((tag as { name?: string }).name !== 'sql') return false
    const { quasis, expressions } = quasi as unknown as { quasis: { value: { raw: string } }[]; expressions: Node[] }
    let before = ''
    return quasis.some(({ value: { raw } }, i) => {
      const quoted = [...raw.matchAll(/'([^']*)'/g)].some(
        ({ 1: text = '', index }) => reads(text) && isSqlComparison(before + raw.slice(0, index)),
      )
      before += raw
      const given = expressions[i]
      return quoted || (given !== undefined && isSqlComparison(before) && this.#isSentence(given))
    })
  }

  /** What a name, a property, or a choice may stand for. */
  #meant(node: Node): { reader: Reader; node: Node }[] {
    if (this.#seen.has(node)) return []
    const reader = new Reader(this.#modules, this.#module, new Set([...this.#seen, node]))
    const here = (...nodes: unknown[]) => nodes.filter(isNode).map((one) => ({ reader, node: one }))
    switch (node.type) {
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        return here(node.expression)
      case 'ConditionalExpression':
        return here(node.consequent, node.alternate)
      case 'LogicalExpression':
        return here(node.left, node.right)
      case 'Identifier':
        return reader.#declarations(node.name as string)
      case 'MemberExpression':
        return reader.#propertiesAt(node)
      default:
        return []
    }
  }

  #declarations(name: string): { reader: Reader; node: Node }[] {
    const imported = this.#module.imported.get(name)
    if (!imported) return (this.#module.declared.get(name) ?? []).map((node) => ({ reader: this, node }))
    const module = this.#modules.get(imported.from)
    return module ? new Reader(this.#modules, module, this.#seen).#declarations(imported.name) : []
  }

  #propertiesAt({ object, property, computed }: Node): { reader: Reader; node: Node }[] {
    return this.#objects(object as Node).flatMap(({ reader, node }) =>
      propertiesOf(node)
        .filter(({ key }) => computed || (key as { name?: string }).name === (property as { name?: string }).name)
        .flatMap(({ value }) => (isNode(value) ? [{ reader, node: value }] : [])),
    )
  }

  #objects(node: Node): { reader: Reader; node: Node }[] {
    if (node.type === 'ObjectExpression') return [{ reader: this, node }]
    return this.#meant(node).flatMap(({ reader, node: one }) => reader.#objects(one))
  }

  #functionOf(node: Node): { body: { reader: Reader; node: Node } } | null {
    if (node.type === 'FunctionDeclaration' || node.type === 'ArrowFunctionExpression')
      return { body: { reader: this, node: node.body as Node } }
    const found = this.#meant(node).map(({ reader, node: one }) => reader.#functionOf(one))
    return found.find((one) => one !== null) ?? null
  }
}

/** `job.progress`: what it is compared with is a text as well. */
function isText({ type, property, expression }: Node): boolean {
  if (type === 'ChainExpression') return isText(expression as Node)
  return type === 'MemberExpression' && TEXTS.has((property as { name: string }).name)
}

/** Code that only asks whether there is a text compares nothing. */
function isNothing({ type, value, name }: Node): boolean {
  return name === 'undefined' || (type === 'Literal' && (value === null || value === ''))
}

/** Whether SQL that ends here goes on with what it compares with. */
function isSqlComparison(before: string): boolean {
  if (!/(=|<>|\bLIKE|\bIN \(|\bIS|\bGLOB)\s*$/i.test(before)) return false
  return [...before.matchAll(/\b(SET|WHERE|WHEN|AND|ON|SELECT|CASE)\b/g)].at(-1)?.[1] !== 'SET'
}
