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
            28 => format!("mapfile -c 1 -C {} {a} <<< q", quoted(&format!("{used} #"))),
            29 => format!("printf -v {x} %s {code}; eval \"${x}\""),
            30 => format!("read -r {x} <<< {code}; ${x}"),
            31 => format!("g() {{ {used}; }}; export -f g; bash -c g"),
            32 => format!(
                "g() {{ {used} \"$@\"; }}; export -f g; echo p q | xargs bash -c 'g \"$@\"' _"
            ),
            _ => format!("trap {code} DEBUG; :; trap - DEBUG"),
        }
    }
}
