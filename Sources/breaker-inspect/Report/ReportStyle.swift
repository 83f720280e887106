/// The style sheet of the report, for light and dark screens and for paper.
enum ReportStyle {
    static let css = """
        :root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d1d9e0;--soft:#f6f8fa;
        --open:#cf222e;--half:#9a6700;--held:#8250df;--good:#1a7f37}
        @media screen and (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;
        --soft:#151b23;--open:#f85149;--half:#d29922;--held:#ab7df8;--good:#3fb950}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem;max-width:80rem;background:var(--bg);color:var(--fg);
        font:15px/1.45 system-ui,sans-serif}
        h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .6rem}
        p{margin:.3rem 0}.dim{color:var(--dim)}
        .tiles{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0}
        .tile{border:1px solid var(--line);border-radius:6px;padding:.5rem .9rem;min-width:7rem;background:var(--soft)}
        .tile b{display:block;font-size:1.4rem}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-size:.87rem}
        th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);
        overflow-wrap:anywhere}
        th{color:var(--dim);font-weight:600;white-space:nowrap}
        td:first-child{min-width:8rem}td:last-child{min-width:11rem}
        summary{cursor:pointer;color:var(--dim);overflow-wrap:anywhere;position:sticky;left:0;width:fit-content;
        max-width:calc(100vw - 2rem)}
        .wide+details{margin:.5rem 0}td>details{contain:inline-size}
        td .wide{margin:.3rem 0 .3rem .4rem;padding-left:.8rem;border-left:2px solid var(--line)}
        .state{min-width:9rem}
        .time{white-space:nowrap;font-variant-numeric:tabular-nums}
        .open,.held-open{color:var(--open);font-weight:600}.half-open,.due{color:var(--half);font-weight:600}
        .held-closed{color:var(--held);font-weight:600}.closed{color:var(--good)}
        .line{display:grid;grid-template-columns:minmax(6rem,14rem) 1fr;gap:.6rem;align-items:center;min-height:1.6rem}
        .line>span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:.87rem}
        .track{position:relative;height:1.1rem;background:var(--soft);border:1px solid var(--line);border-radius:3px}
        .bar{position:absolute;top:0;bottom:0;min-width:3px;border-radius:2px;background:var(--open)}
        .bar.held{background:var(--held);top:55%;z-index:1}
        .axis{display:flex;justify-content:space-between;color:var(--dim);font-size:.75rem}
        .key i{display:inline-block;width:.9rem;height:.7rem;border-radius:2px;background:var(--open);margin:0 .3rem 0 .9rem}
        .key i.held{background:var(--held)}
        @media screen and (max-width:48rem){body{padding:1rem}.axis span:not(:first-child):not(:last-child){display:none}
        .line{grid-template-columns:minmax(5rem,9rem) 1fr}.axis{gap:.6rem}.axis span:last-child{text-align:right}
        td{min-width:9rem}}
        @media print{details::details-content{content-visibility:visible;block-size:auto}summary{list-style:none}
        body{max-width:none;padding:0;font-size:10pt}tr,.line,.tile{break-inside:avoid}
        h2{break-after:avoid}.wide{overflow:visible}.bar,.tile,.track{print-color-adjust:exact;
        -webkit-print-color-adjust:exact}}
        """
}
