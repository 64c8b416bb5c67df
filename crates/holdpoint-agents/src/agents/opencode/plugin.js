// Asks Holdpoint before each tool call, and has it look at what tools return.
// Written by holdpoint init; `holdpoint uninstall opencode` removes it.
import { spawn } from "node:child_process"

const program = "PROGRAM"

// A person may take their time; the program itself never takes more than this.
const longest = 600_000

const ask = (question) =>
  new Promise((answered, refused) => {
    const refuse = (why) =>
      refused(new Error(why || "Holdpoint could not be asked, and nothing runs unasked: see holdpoint doctor"))
    const child = spawn(program, ["hook", "opencode"], {
      cwd: question.directory,
      env: { ...process.env, HOLDPOINT_PROJECT_DIR: question.directory },
    })
    const late = setTimeout(() => child.kill("SIGKILL"), longest)
    let answer = ""
    let words = ""
    child.stdout.on("data", (text) => { answer += text })
    child.stderr.on("data", (text) => { words += text })
    child.stdin.on("error", () => {})
    child.on("error", () => { clearTimeout(late); refuse() })
    child.on("close", (code) => {
      clearTimeout(late)
      let said = {}
      try {
        if (answer.trim()) said = JSON.parse(answer)
      } catch {
        return refuse(words.trim())
      }
      const known = said.decision === undefined || said.decision === "allow"
      if (code !== 0 || !known) return refuse(said.reason || words.trim())
      answered(said)
    })
    child.stdin.end(JSON.stringify(question))
  })

export const Holdpoint = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const said = await ask({
      event: "tool.execute.before",
      tool: input.tool,
      sessionID: input.sessionID,
      directory,
      args: output.args,
    })
    if (said.args === undefined) return
    for (const name of Object.keys(output.args)) delete output.args[name]
    Object.assign(output.args, said.args)
  },
  "tool.execute.after": async (input, output) => {
    const listed = Array.isArray(output.content)
    const said = await ask({
      event: "tool.execute.after",
      tool: input.tool,
      sessionID: input.sessionID,
      directory,
      args: input.args,
      result: listed ? output.content : output.output,
    }).catch((problem) => ({ result: listed ? [{ type: "text", text: problem.message }] : problem.message }))
    if (said.result !== undefined) {
      if (!listed) output.output = said.result
      else if (Array.isArray(said.result)) output.content = said.result
      else output.content = [{ type: "text", text: String(said.result) }]
    }
    if (said.note === undefined) return
    if (listed) output.content.push({ type: "text", text: said.note })
    else output.output = `${output.output}\n\n${said.note}`
  },
})
