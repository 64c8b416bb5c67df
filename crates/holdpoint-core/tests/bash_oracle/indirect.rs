//! Lines whose commands stand where only bash looks for commands: in the words of built-ins, in
//! subscripts, in descriptors, in names for other variables.

use super::generator::{Line, quoted};

impl Line<'_> {
    /// A statement of this kind.
    pub(crate) fn indirect(&mut self) -> String {
        let x = self.scalar();
        let a = self.array();
        let used = self.used(0);
        let code = quoted(&used);
        if self.roll(2) == 0 {
            return self.more_indirect(x, a, &used, &code);
        }
        match self.roll(34) {
            0 => format!("bash <<< {code}"),
            1 => format!("bash -s <<< {code}"),
            2 => format!("bash <<'E'\n{used}\nE\n"),
            3 => format!(". <(echo {code})"),
            4 => format!("source /dev/stdin <<< {code}"),
            5 => format!("bash <(printf '%s\\n' {code})"),
            6 => format!("echo {code} | bash"),
            7 => format!("bash /dev/fd/0 <<< {code}"),
            8 => format!("exec 5<<< {code}; . /dev/fd/5"),
            9 => format!("exec {{fd}}<<< {code}; bash <&$fd"),
            10 => format!("bash /dev/fd/4 4<<< {code}"),
            11 => format!("compgen -W '$({used})'"),
            12 => format!("[[ -v {a}[\\$({used})] ]]"),
            13 => format!("test -v {}", quoted(&format!("{a}[$({used})]"))),
            14 => format!("{a}=(1); unset {}", quoted(&format!("{a}[$({used})]"))),
            15 => format!("let {}", quoted(&format!("{x}={a}[$({used})]"))),
            16 => format!("printf -v {} q", quoted(&format!("{a}[$({used})]"))),
            17 => format!("read {} <<< 1", quoted(&format!("{a}[$({used})]"))),
            18 => format!("getopts q {} -q", quoted(&format!("{a}[$({used})]"))),
            19 => format!("{x}={}; echo $(({x}))", quoted(&format!("{a}[$({used})]"))),
            20 => format!(
                "{x}={}; [[ ${x} -eq 1 ]]",
                quoted(&format!("{a}[$({used})]"))
            ),
            21 => format!("{x}={}; echo \"${{{x}@P}}\"", quoted(&format!("$({used})"))),
            22 => format!("declare -n n={x}; {x}={code}; $n"),
            23 => format!("declare -n n={x}; n={code}; eval \"${x}\""),
            24 => format!("y={x}; {x}={code}; ${{!y}}"),
            25 => format!("declare -A m=([k]={code}); ${{m[k]}}"),
            26 => format!("declare -A m; m[k]={code}; eval \"${{m[k]}}\""),
            27 => format!("mapfile -t {a} <<< {code}; eval \"${{{a}[0]}}\""),
            28 => format!(
                "mapfile -c 1 -C {} {a} <<< q",
                quoted(&format!("{used}; :"))
            ),
            29 => format!("printf -v {x} %s {code}; eval \"${x}\""),
            30 => format!("read -r {x} <<< {code}; ${x}"),
            31 => format!("g() {{ {used}; }}; export -f g; bash -c g"),
            32 => format!(
                "g() {{ {used} \"$@\"; }}; export -f g; echo p q | xargs bash -c 'g \"$@\"' _"
            ),
            _ => format!("trap {code} DEBUG; :; trap - DEBUG"),
        }
    }

    /// Others, most of them with subscripts, descriptors and settings.
    fn more_indirect(&mut self, x: &str, a: &str, used: &str, code: &str) -> String {
        let subscript = quoted(&format!("{a}[$({used})]"));
        match self.roll(44) {
            0 => format!("coproc {{ {used}; }}; wait"),
            1 => format!("coproc N {{ {used}; }}; wait"),
            2 => format!("trap {code} ERR; false; trap - ERR"),
            3 => format!("g() {{ trap {code} RETURN; :; }}; g; trap - RETURN"),
            4 => format!("trap {code} USR1; kill -USR1 $BASHPID; trap - USR1"),
            5 => format!("(trap {code} 0)"),
            6 => format!("/proc/self/exe -c {code}"),
            7 => format!("bash /proc/self/fd/0 <<< {code}"),
            8 => format!("exec 6<<< {code}; source /proc/self/fd/6"),
            9 => format!("BASH_ENV=/dev/stdin bash -c : <<< {code}"),
            10 => format!("env bash <<< {code}"),
            11 => format!("command bash -s a b <<< {code}"),
            12 => format!("(exec bash <<< {code})"),
            13 => format!("nice bash -s <<< {code}"),
            14 => format!("declare -n n={subscript}; n=1"),
            15 => format!("declare -n n={a}; n=({used}); \"${{n[@]}}\""),
            16 => format!("g() {{ local -n r=$1; ${{r}}; }}; {x}={code}; g {x}"),
            17 => format!("g() {{ local -n r=$1; r={code}; }}; g {x}; eval \"${x}\""),
            18 => format!("for n in {x}; do declare -n r=$n; r={code}; eval \"${x}\"; done"),
            19 => format!("(({a}[$({used})] = 1))"),
            20 => format!("(( '{a}[$({used})]' ))"),
            21 => format!("echo $(({a}[$({used})] + 1))"),
            22 => format!("echo ${{{a}[$({used})]}}"),
            23 => format!("echo ${{{x}:$({used}):1}}"),
            24 => format!("[[ 1 -eq {a}[\\$({used})] ]]"),
            25 => format!("for ((i={a}[$({used})];i<1;i++)); do break; done"),
            26 => format!("declare -i {x}={subscript}"),
            27 => format!("{a}[$({used})]=1"),
            28 => format!("{a}=([$({used})]=1)"),
            29 => format!("y={subscript}; {x}=y; echo $(({x}))"),
            30 => format!("y={subscript}; echo ${{{a}[y]}}"),
            31 => format!("y={subscript}; echo ${{{x}:y}}"),
            32 => format!("{x}={subscript}; echo ${{!{x}}}"),
            33 => format!("builtin eval {code}"),
            34 => format!("command eval {code}"),
            35 => format!("g() {{ eval \"$1\"; }}; g {code}"),
            36 => format!("g() {{ \"$@\"; }}; g {used}"),
            37 => format!("eval \"$(cat <<< {code})\""),
            38 => format!("bash -c \"$(echo {code})\""),
            39 => format!("source <(cat <<< {code})"),
            40 => format!("printf '%s\\n' {code} | {{ read -r {x}; eval \"${x}\"; }}"),
            41 => format!("compgen -W {}", quoted(&format!("a $({used}) b"))),
            42 => format!("PS4='$({used})'; set -x; :; set +x"),
            _ => format!("{x}={code}; bash <<< \"${x}\""),
        }
    }
}
